import { z } from "zod";

/** An id is the prefix of its kind and a 128-bit value that begins with the time; ids of a kind from one process sort by it. */
export const prefixes = {
  mandate: "mdt",
  policyDecision: "pd",
  reservation: "rsv",
  authorization: "aut",
  execution: "exe",
  record: "rec",
  settlement: "stl",
  feeQuote: "fq",
  feeSchedule: "fs",
  fee: "fee",
  ledger: "led",
  subscription: "sub",
  serviceAccount: "sa",
  seller: "sel",
  checkoutIntent: "cki",
  approval: "apr",
  waiver: "wav",
  allowance: "alw",
  continuationToken: "ctk",
  order: "ord",
  stepUp: "stu",
  audit: "aud",
  action: "act",
  request: "req",
  organization: "org",
  user: "usr",
  session: "ses",
  passkey: "psk",
  member: "mem",
  account: "acc",
  verification: "ver",
  invitation: "inv",
  mail: "mai",
  relay: "rly",
  registration: "reg",
  slot: "slt",
  payToChallenge: "ptc",
  settlementTransaction: "stx",
  device: "dev",
  push: "psh",
  alert: "alr",
  webhookEndpoint: "whe",
  webhookDelivery: "whd",
  agentClient: "cli",
  cardConnection: "ccn",
} as const;

export type IdKind = keyof typeof prefixes;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** The two characters (Crockford's base 32) for each value of ten bits. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`);

/** Writes a time in milliseconds as ten characters that sort by time: two zero bits and 48 bits. */
function timeOf(time: number): string {
  let text = "";
  for (let rest = time, pair = 0; pair < 5; pair += 1, rest = Math.floor(rest / 1024)) text = PAIRS[rest % 1024] + text;
  return text;
}

let millisecond = -1;
let timeText = "";
let made = 0;

/** If the clock is set back, or after 1,024 ids in a millisecond, ids get a time ahead of the clock, so that they increase. */
function next(now: number): string {
  made = now > millisecond ? 0 : made + 1;
  if (made === 0 || made === PAIRS.length) {
    millisecond = made === 0 ? now : millisecond + 1;
    made = 0;
    timeText = timeOf(millisecond);
  }
  return timeText + PAIRS[made];
}

const RANDOM_PAIRS = 7;
const POOL = RANDOM_PAIRS * 512;
let pool = new Uint16Array(0);
let used = POOL;

function random(): string {
  if (used >= pool.length) {
    pool = crypto.getRandomValues(new Uint16Array(POOL));
    used = 0;
  }
  let text = "";
  for (const end = used + RANDOM_PAIRS; used < end; used += 1) text += PAIRS[pool[used]! & 1023];
  return text;
}

/** Makes an id: a prefix and a ULID with 48 bits of milliseconds, a 10-bit counter within the millisecond, and 70 random bits. */
export const newId = (kind: IdKind): string => `${prefixes[kind]}_${next(Date.now())}${random()}`;

/** Gives an id the prefix of another kind: an authorization's decision and reservation have its id with other prefixes. */
export const idUnder = (kind: IdKind, id: string): string => prefixes[kind] + id.slice(id.indexOf("_"));

/** The smallest possible id of a kind at `time`: it sorts before every id that is made at `time` or later. */
export const firstIdAt = (kind: IdKind, time: Date): string => `${prefixes[kind]}_${timeOf(time.getTime())}${"0".repeat(16)}`;

export const ClientId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, "Use 1 to 128 letters, digits or the characters _ . : -")
  .meta({ description: "An id chosen by the client." });

/** The pattern also allows ids that do not exist, so that an unknown id gets a 404 and not a 400. */
export const Id = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/, "This is not an id.");
