import type { Reason } from "#lib/mandates/facts.ts";
import { toWire } from "#lib/time.ts";

/** The columns of an authorization that its reply contains, besides the reasons. */
type AnswerFields = {
  readonly authorizationId: string;
  readonly policyDecisionId: string;
  readonly mandateId: string;
  readonly intentId: string;
  readonly outcome: string;
  readonly denialCode: string | null;
  readonly reservationId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/**
 * The contract's Authorization as text. Writes both the first reply and its replays, so their bytes are equal only while this function
 * does not change. To change the order of members, add a new stored format.
 */
export function writeAnswer(row: AnswerFields, reasons: string): string {
  const text = JSON.stringify;
  const denied = row.denialCode === null ? "" : `,"denialCode":${text(row.denialCode)}`;
  const held = row.reservationId === null ? "" : `,"reservationId":${text(row.reservationId)}`;
  const ids = `"policyDecisionId":${text(row.policyDecisionId)},"mandateId":${text(row.mandateId)},"intentId":${text(row.intentId)}`;
  const decided = `{${ids},"outcome":${text(row.outcome)},"reasons":${reasons}${denied}${held},"createdAt":"${toWire(row.createdAt)}"}`;
  return `{"authorizationId":${text(row.authorizationId)},"policyDecision":${decided},"expiresAt":"${toWire(row.expiresAt)}"}`;
}

/** The original reply body. */
export const answerOf = (row: AnswerFields & { readonly reasons: string }): string => writeAnswer(row, row.reasons);

/** The reasons of the decision. */
export const reasonsOf = ({ reasons }: { readonly reasons: string }): readonly Reason[] =>
  JSON.parse(reasons) as readonly Reason[];

/*
 * Common phrases of reasons are stored as control characters, which JSON text never contains. Stored rows use them, so entries are
 * append-only.
 */

const BEGIN = '{"code":"satisfied","effect":"allow","rule":"';
const VERSION = ',"policyVersion":';
const BEGIN_SIGN = "\u0010";
const SAYING_SIGN = "\u0011";
const VERSION_SIGN = "\u0012";

/** The exact text between BEGIN and VERSION, by the character after SAYING_SIGN. */
const sayings = {
  a: 'status","message":"The mandate is active."',
  b: 'agents","message":"The mandate may be used by everyone in the organization."',
  c: 'agents","message":"The agent is one of the mandate\'s agents."',
  d: 'minimumAssuranceLevel","message":"The seller asks for softwareApproved, which is reached."',
  e: 'minimumAssuranceLevel","message":"The resource asks for softwareApproved, which is reached."',
  f: 'intent.registration","message":"The intent is what the seller registered."',
  g: 'intent.registration","message":"The intent is what the seller\'s challenge asks for."',
  h: 'intent.intentId","message":"The intent is new under this mandate."',
  i: 'protocol","message":"The resource accepts this kind of challenge."',
  j: 'sellers","message":"The seller may be paid."',
  k: 'sellers","message":"The seller may be paid.","pointer":"/sellers"',
  l: 'sellers","message":"The policy admits sellers that are not registered.","pointer":"/sellers/unregistered"',
  m: 'requireVerifiedSeller","message":"The seller is verified.","pointer":"/requireVerifiedSeller"',
  n: 'resources","message":"The policy allows this resource.","pointer":"/resources"',
  o: 'payTo","message":"The policy allows payments to this address.","pointer":"/payTo"',
  p: 'validFrom","message":"The mandate\'s validity has begun.","pointer":"/validFrom"',
  q: 'assets","message":"The mandate pays in USDC on eip155:84532.","pointer":"/assets/0"',
  r: 'assets","message":"The mandate pays in USDC on eip155:8453.","pointer":"/assets/0"',
} as const;

const signOf: ReadonlyMap<string, string> = new Map(Object.entries(sayings).map(([sign, saying]) => [saying, sign]));

/** Compresses reasons for storage to less than half of their length, so that three typical rows fit a page. */
export function shorten(reasons: string): string {
  const [before = "", ...satisfied] = reasons.split(BEGIN);
  let stored = before;
  for (const reason of satisfied) {
    const end = reason.indexOf(VERSION);
    if (end < 0) {
      stored += BEGIN_SIGN + reason;
      continue;
    }
    const saying = reason.slice(0, end);
    const sign = signOf.get(saying);
    const rest = reason.slice(end + VERSION.length);
    stored += sign === undefined ? BEGIN_SIGN + saying + VERSION_SIGN + rest : SAYING_SIGN + sign + rest;
  }
  return stored;
}

/** Restores stored reasons to JSON. */
export function lengthen(stored: string): string {
  const [before = "", ...said] = stored.split(SAYING_SIGN);
  let reasons = before;
  for (const reason of said) reasons += BEGIN + sayings[reason.charAt(0) as keyof typeof sayings] + VERSION + reason.slice(1);
  return reasons.replaceAll(BEGIN_SIGN, BEGIN).replaceAll(VERSION_SIGN, VERSION);
}
