import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { ServiceRefused, ServiceUnreachable } from "../errors.ts";
import type { Event } from "../operations.ts";
import { connect, pause, type Api } from "../service.ts";
import { signWebhook } from "../webhook.ts";
import { untilStopped, WrongUse, type Said, type Values } from "./arguments.ts";
import { access } from "./settings.ts";

const PAGE = 100;
const POLL_MS = 1_000;
const AWAY_MS = 5_000;
const ANSWER_MS = 15_000;
const RETRY_MAX_MS = 30_000;

/** Returns the URL of the receiver. `text` is a port, a port with a path, or a URL on this machine. @throws WrongUse */
function targetOf(text: string): string {
  const url = /^\d{1,5}(?:\/|$)/.test(text) ? `http://127.0.0.1:${text}` : text;
  const { hostname, protocol } = URL.canParse(url) ? new URL(url) : { hostname: "", protocol: "" };
  const isHere = hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d+){3}$/.test(hostname);
  if (!isHere || !/^https?:$/.test(protocol))
    throw new WrongUse("Name a port of this machine, such as 3000 or http://localhost:3000/hooks.");
  return url;
}

/** The sequence of the newest event; 0 if there is none. Found by binary search. */
async function newest(api: Api, signal: AbortSignal): Promise<number> {
  const hasAfter = async (after: number): Promise<boolean> =>
    (await api.listEvents({ query: { after, limit: 1 } }, { signal })).items.length > 0;
  let [low, high] = [0, 1];
  for (; await hasAfter(high); high *= 2) low = high;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (await hasAfter(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

const sequenceIn = (text: string, where: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new WrongUse(`${where} is not the sequence of an event.`);
  return Number(text);
};

/** The content of the file; null if it does not exist yet. */
const savedIn = (file: string): Promise<string | null> =>
  readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw new WrongUse(`The file ${file} cannot be read: ${error.message}`);
  });

async function begin(api: Api, { after, cursor }: Values, signal: AbortSignal): Promise<number> {
  if (after !== undefined) return sequenceIn(after, "--after");
  const saved = cursor === undefined ? null : await savedIn(cursor);
  return saved === null ? newest(api, signal) : sequenceIn(saved.trim(), `The content of ${cursor}`);
}

const isWanted = ({ type }: Event, { types }: Values): boolean =>
  types === undefined ||
  types.split(",").some((one) => one === type || (one.endsWith(".*") && type.startsWith(one.slice(0, -1))));

async function post(url: string, event: Event, secret: string, signal: AbortSignal): Promise<number | null> {
  const body = JSON.stringify(event);
  const headers = { "content-type": "application/json", ...(await signWebhook(event.id, body, secret)) };
  const ends = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  try {
    const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal: ends });
    await answer.body?.cancel();
    return answer.status;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}

/** Sends an event, and repeats that until the receiver answers 2xx, so that the events keep their order. */
async function deliver(url: string, event: Event, secret: string, signal: AbortSignal): Promise<void> {
  for (let waitMs = POLL_MS; ; waitMs = Math.min(waitMs * 2, RETRY_MAX_MS)) {
    const status = await post(url, event, secret, signal);
    if (status !== null && status >= 200 && status < 300) return;
    console.error(
      `Event ${event.sequence}: ${url} ${status === null ? "does not answer" : `answers ${status}`}. It is sent again.`,
    );
    await pause(waitMs, signal);
  }
}

async function keep(file: string, sequence: number): Promise<void> {
  await writeFile(`${file}.next`, `${sequence}\n`);
  await rename(`${file}.next`, file);
}

/** Keeps the place where the program begins, because events can come between its end and its next start. */
const keepFirst = (file: string, sequence: number): Promise<void> =>
  keep(file, sequence).catch((error: Error) => {
    throw new WrongUse(`The file ${file} cannot be written: ${error.message}`);
  });

/** What the service does for now, if a later request can succeed. @throws the error itself, if none can */
function passing(error: unknown): string {
  if (error instanceof ServiceUnreachable) return "does not answer";
  if (error instanceof ServiceRefused && [429, 503].includes(error.status)) return `answers ${error.status}`;
  throw error;
}

async function read(api: Api, after: number, signal: AbortSignal): Promise<readonly Event[]> {
  try {
    return (await api.listEvents({ query: { after, limit: PAGE } }, { signal })).items;
  } catch (error) {
    signal.throwIfAborted();
    console.error(`The service ${passing(error)}. Trying again.`);
    await pause(AWAY_MS, signal);
    return [];
  }
}

/**
 * Forwards the organization's events, or those of the types in --types, to a receiver on this machine in their order, with the
 * signature v1 of webhooks, until the user stops the program.
 */
export async function listen(target: string, values: Values): Promise<Said> {
  const url = targetOf(target);
  const { url: service, apiKey } = await access();
  const { api } = connect({ url: service, apiKey });
  const secret = values.secret ?? process.env["COUNTERSIGN_WEBHOOK_KEYS"] ?? `whsec_${randomBytes(32).toString("base64")}`;
  await signWebhook("", "", secret);
  const signal = untilStopped();
  let after: number | null = null;
  try {
    after = await begin(api, values, signal);
    if (values.cursor !== undefined) await keepFirst(values.cursor, after);
    console.error(`Events after ${after} go to ${url}. The secret is ${secret}`);
    for (;;) {
      const events = await read(api, after, signal);
      for (const event of events) {
        if (isWanted(event, values)) {
          await deliver(url, event, secret, signal);
          console.log(values.json ? JSON.stringify(event) : `${event.sequence} ${event.type} ${event.data.entityId}`);
        }
        after = event.sequence;
        if (values.cursor !== undefined) await keep(values.cursor, after);
      }
      if (events.length < PAGE) await pause(POLL_MS, signal);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return { json: { after }, text: after === null ? "Stopped." : `Stopped. Continue with --after ${after}.` };
}
