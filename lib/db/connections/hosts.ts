import type { ServerConnection } from "#lib/db/connection.ts";
import { forgetPrimary, primaryOf } from "#lib/db/connections/timelines.ts";
import { ConnectionLost, mayPass, notPrimary, toldCauses, type NotPrimary } from "#lib/db/failure.ts";
import { databaseHosts } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";
import { atMost } from "#lib/time.ts";

/** The host that was the primary last is asked alone for this many milliseconds. */
const HEAD_START_MS = 250;
/** After the first primary has answered, another host may still prove to be a newer one for this many milliseconds. */
const OTHERS_MS = 300;

type Opened = readonly [host: string, connection: ServerConnection];
type Open = (url: string) => Promise<ServerConnection>;

/** The address of the host that was the primary last, by DATABASE_URL. */
const primaries = (): Map<string, string> => perProcess("db/connections/hosts", () => new Map<string, string>());

/** `host:port`, to be shown. */
export const nameOf = (url: string): string => {
  const { hostname, port } = new URL(url);
  return `${hostname}:${port || 5432}`;
};

/** The address of the primary alone, after a connection was opened. */
export const primaryUrl = (url: string): string => primaries().get(url) ?? databaseHosts(url)[0] ?? url;

function noneOf(hosts: readonly string[], { errors }: AggregateError): ConnectionLost {
  const reasons = hosts.map((host, index) => `${nameOf(host)}: ${toldCauses(errors[index])}`);
  // A refused password, for example, does not pass by itself.
  const lasting = (errors as unknown[]).find((error) => !mayPass(error));
  return new ConnectionLost(`No host of DATABASE_URL is a primary. ${reasons.join(" ")}`, lasting ?? errors.find(notPrimary));
}

const timelineOf = ({ primary }: ServerConnection): number => primary?.timeline ?? 0;

/**
 * Of the primaries that answer in time, the one with the highest timeline. Closes the others.
 * @throws also if a host belongs to another installation and `isKnown` is false, so that nobody knows which one is right
 */
async function newest(hosts: readonly string[], tries: readonly Promise<ServerConnection>[], isKnown: boolean): Promise<Opened> {
  const opened: Opened[] = [];
  let stranger: unknown = null;
  const ask = async (one: Promise<ServerConnection>, host: string): Promise<void> => {
    try {
      opened.push([host, await one]);
    } catch (error) {
      if (notPrimary(error)?.is === "other installation") stranger = error;
    }
  };
  const all = Promise.all(tries.map((one, index) => ask(one, hosts[index] ?? "")));
  await Promise.any(tries).catch((error: AggregateError) => {
    throw noneOf(hosts, error);
  });
  await atMost(all, OTHERS_MS, null);
  // Another call may have met a newer primary meanwhile, which ends the connections to this one.
  const open = opened.filter(([, { ended }]) => !ended);
  const [best] = open.toSorted(([, one], [, other]) => timelineOf(other) - timelineOf(one));
  const wrong = isKnown ? null : stranger;
  for (const one of tries) void one.then((other) => (wrong || other !== best?.[1]) && other.close()).catch(() => {});
  if (wrong) throw wrong;
  if (!best) throw new ConnectionLost("The database has a new primary.", opened[0]?.[1].ended);
  return best;
}

/**
 * Opens a connection to the primary among the hosts of `url`. All are dialed together, because a machine that is gone answers
 * nothing at all.
 */
export async function openPrimary(url: string, open: Open): Promise<ServerConnection> {
  const hosts = databaseHosts(url);
  const [only = url] = hosts;
  if (hosts.length <= 1) return open(only);
  const last = primaries().get(url);
  const first = last === undefined ? null : open(last);
  const early = first && (await atMost(first, HEAD_START_MS, null).catch(() => null));
  if (early) return early;
  const dialed = first && last !== undefined ? [last, ...hosts.filter((host) => host !== last)] : hosts;
  const tries = dialed.map((host) => (first && host === last ? first : open(host)));
  try {
    const [host, best] = await newest(dialed, tries, last !== undefined);
    primaries().set(url, host);
    return best;
  } catch (error) {
    // Which of several installations is the right one is not known before one of them has served.
    if (!primaries().has(url)) forgetPrimary(url);
    throw error;
  }
}

/** What a host is, other than the primary that the connections of this process go to. */
export type OtherHost = { readonly name: string; readonly is: NotPrimary["is"] | "second primary" | "away" };

type Looked = { isLooking: boolean; others: readonly OtherHost[] };
const looked = (): Looked => perProcess("db/connections/hosts looked", () => ({ isLooking: false, others: [] }));

/** Asks the other hosts what they are, so that a newer primary is found while the old one still answers, or answers nothing. */
export async function lookAround(url: string, open: Open): Promise<readonly OtherHost[]> {
  const state = looked();
  const last = primaryUrl(url);
  const others = databaseHosts(url).filter((host) => host !== last);
  if (others.length === 0 || state.isLooking) return state.others;
  state.isLooking = true;
  const before = primaryOf(url)?.timeline ?? 0;
  const whatIs = async (host: string): Promise<OtherHost["is"]> => {
    try {
      const connection = await open(host);
      connection.close();
      if (timelineOf(connection) > before) primaries().set(url, host);
      return "second primary";
    } catch (error) {
      return notPrimary(error)?.is ?? "away";
    }
  };
  const found = await Promise.all(others.map(async (host) => ({ name: nameOf(host), is: await whatIs(host) })));
  // After a newer primary was found, the next look tells what the old one has become.
  state.others = found.filter(({ name }) => name !== nameOf(primaryUrl(url)));
  state.isLooking = false;
  return state.others;
}
