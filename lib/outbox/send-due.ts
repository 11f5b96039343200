import { database } from "#lib/db/client.ts";
import { after } from "#lib/db/leases.ts";
import { provenHosts, workFairly } from "#lib/outbox/fair-work.ts";
import { end, hasDue, leaseMessage, named, postpone, type Leased, type Outbox, type Receivers } from "#lib/outbox/store.ts";
import { perProcess } from "#lib/process.ts";
import { log } from "#lib/telemetry/log.ts";

/** Only the last two outcomes say that the host has a fault. Only `unanswered` is tried again. */
export type Outcome = "accepted" | "unwanted" | "refused" | "unanswered";
/** `facts` are for the log, so they must not tell who the receiver is. */
export type Sent = { readonly outcome: Outcome; readonly facts?: Readonly<Record<string, unknown>> };

type Sending<T extends Outbox["table"]> = {
  readonly outbox: Outbox<T>;
  readonly receivers: Receivers;
  readonly accepted: T["$inferSelect"]["status"];
  /** Messages of one call, and messages under way at the same time: in all, of one owner, and of one host that answers. */
  readonly batch: number;
  readonly atOnce: number;
  readonly each: number;
  readonly ofHost: number;
  /** Longer than an attempt takes. */
  readonly leaseMs: number;
  readonly attemptsMax: number;
  readonly pauseAfter: (attempts: number) => number;
  readonly send: (message: Leased<T>) => Promise<Sent>;
};

type Hosts = ReturnType<typeof provenHosts>;

function hostsOf(name: string, places: number): Hosts {
  const all = perProcess("outbox/send-due hosts", () => new Map<string, Hosts>());
  const hosts = all.get(name) ?? provenHosts(places);
  all.set(name, hosts);
  return hosts;
}

/** Sends due messages in turns that are fair to owners and hosts. Returns the number of leased messages, sent or not. */
export async function sendDue<T extends Outbox["table"]>(sending: Sending<T>): Promise<number> {
  const { outbox, receivers, batch, atOnce, each, ofHost, leaseMs } = sending;
  if (!(await hasDue(outbox))) return 0;
  const hosts = hostsOf(outbox.id.name, ofHost);
  return workFairly<Leased<T>>({
    atOnce,
    each,
    batch,
    placesOf: hosts.placesOf,
    lease: (full) => leaseMessage(outbox, receivers, full, leaseMs),
    keysOf: ({ owner, host }) => ({ owner, host }),
    work: (message) => sendOne(sending, message, hosts),
  });
}

/** A message that crashed its workers until its attempts were used up is not sent once more. */
async function sendOne<T extends Outbox["table"]>(
  { outbox, accepted, attemptsMax, pauseAfter, send }: Sending<T>,
  message: Leased<T>,
  hosts: Hosts,
): Promise<void> {
  const { id, host, attempts, leasedAt, usefulUntil } = message;
  const isDue = attempts <= attemptsMax && (usefulUntil === null || usefulUntil > leasedAt);
  const { outcome, facts }: Sent = isDue ? await send(message) : { outcome: "unwanted" };
  const isAccepted = outcome === "accepted";
  if (outcome !== "unwanted") hosts.note(host, isAccepted);
  const isAgain = outcome === "unanswered" && attempts < attemptsMax;
  if (facts) log().warn({ id, attempts, ...facts }, isAgain ? "A message is tried again" : "A message was given up");
  if (isAgain) await postpone(database(), outbox, named(outbox, id), after(pauseAfter(attempts)));
  else await end(database(), outbox, named(outbox, id), isAccepted ? accepted : "failed");
}
