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
  member: "mem",
  account: "acc",
  verification: "ver",
  invitation: "inv",
  mail: "mai",
} as const;

export type IdKind = keyof typeof prefixes;

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** 26 characters of Crockford base 32 for 128 bits. */
function encode(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 2; // 26 * 5 = 130: two leading zero bits keep the order
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(buffer >> bits) & 31];
      buffer &= (1 << bits) - 1;
    }
  }
  return text;
}

const POOL = 16 * 256;
let pool = new Uint8Array(0);
let used = 0;

/** 48 bits of milliseconds and 80 random bits: a ULID behind a prefix. */
export function newId(kind: IdKind): string {
  if (used + 10 > pool.length) {
    pool = crypto.getRandomValues(new Uint8Array(POOL));
    used = 0;
  }
  const bytes = new Uint8Array(16);
  const milliseconds = Date.now();
  new DataView(bytes.buffer).setUint32(0, Math.floor(milliseconds / 65_536));
  new DataView(bytes.buffer).setUint16(4, milliseconds % 65_536);
  bytes.set(pool.subarray(used, used + 10), 6);
  used += 10;
  return `${prefixes[kind]}_${encode(bytes)}`;
}

/** Sorts before every id of its kind that was made at `time` or later. */
export function firstIdAt(kind: IdKind, time: Date): string {
  const bytes = new Uint8Array(16);
  const milliseconds = time.getTime();
  new DataView(bytes.buffer).setUint32(0, Math.floor(milliseconds / 65_536));
  new DataView(bytes.buffer).setUint16(4, milliseconds % 65_536);
  return `${prefixes[kind]}_${encode(bytes)}`;
}

/** What clients choose: intentId, nonce, the id of a PUT. */
export const ClientId = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,128}$/, "Use 1 to 128 letters, digits or the characters _ . : -")
  .meta({ description: "An id chosen by the client." });

/** An id of ours in a path or body; an unknown one is a 404, not a 400. */
export const Id = z.string().regex(/^[A-Za-z0-9_.:-]{1,128}$/, "This is not an id.");
