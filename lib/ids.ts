import { z } from "zod";

/** Every id is a typed prefix and a time-ordered 128-bit value, so ids sort by creation. */
export const prefixes = {
  mandate: "mdt",
  policyDecision: "pd",
  reservation: "rsv",
  authorization: "aut",
  execution: "exe",
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
} as const;

export type IdKind = keyof typeof prefixes;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** Crockford base 32 of ten bits. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`);

let millisecond = -1;
let timeText = "";

/** 48 bits behind two zero bits, which keep the order: ten characters. Ids of one millisecond share them. */
function timeOf(now: number): string {
  if (now === millisecond) return timeText;
  millisecond = now;
  timeText = "";
  for (let rest = now, pair = 0; pair < 5; pair += 1, rest = Math.floor(rest / 1024)) timeText = PAIRS[rest % 1024] + timeText;
  return timeText;
}

/** Two random bytes for each pair of characters. */
const POOL = 8 * 512;
let pool = new Uint16Array(0);
let used = POOL;

/** 80 random bits: sixteen characters. */
function random(): string {
  if (used >= pool.length) {
    pool = crypto.getRandomValues(new Uint16Array(POOL));
    used = 0;
  }
  let text = "";
  for (const end = used + 8; used < end; used += 1) text += PAIRS[pool[used]! & 1023];
  return text;
}

/** 48 bits of milliseconds and 80 random bits: a ULID behind a prefix. */
export const newId = (kind: IdKind): string => `${prefixes[kind]}_${timeOf(Date.now())}${random()}`;

/** Sorts before every id of its kind that was made at `time` or later. */
export const firstIdAt = (kind: IdKind, time: Date): string => `${prefixes[kind]}_${timeOf(time.getTime())}${"0".repeat(16)}`;

/** What clients choose: intentId, nonce, the id of a PUT. */
export const ClientId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, "Use 1 to 128 letters, digits or the characters _ . : -")
  .meta({ description: "An id chosen by the client." });

/** An id of ours in a path or body; an unknown one is a 404, not a 400. */
export const Id = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/, "This is not an id.");
