import type { Reason, ReasonCode, Value } from "#lib/mandates/policy/facts.ts";

/*
 * A stored decision names its sentences by id, and a retry must receive the same bytes.
 * Never change the text of a sentence: add a sentence with the next free id, and keep the old one.
 */

export type Head = { readonly policyVersion: number; readonly unit: string; readonly requested: string };

export type Said = Pick<
  Reason,
  "message" | "pointer" | "limit" | "used" | "requested" | "remaining" | "unit" | "window" | "authorizationId" | "resumable"
>;

export type Sentence<V extends readonly Value[] = Value[]> = {
  readonly id: number;
  readonly code: ReasonCode;
  readonly rule: string;
  readonly say: (head: Head, ...values: V) => Said;
};

export const sentence = <V extends readonly Value[]>(
  id: number,
  code: ReasonCode,
  rule: string,
  say: Sentence<V>["say"],
): Sentence<V> => ({ id, code, rule, say });

export function fixed(id: number, code: ReasonCode, rule: string, message: string, pointer?: string): Sentence<[]> {
  const said = pointer === undefined ? { message } : { message, pointer };
  return { id, code, rule, say: () => said };
}
