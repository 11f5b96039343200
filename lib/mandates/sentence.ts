import type { ReasonCode, ReasonWindow, Value } from "#lib/mandates/facts.ts";

/*
 * The words of every decision, version 1, are in the files sentences-*.ts. A stored decision names its sentences by id and keeps
 * their values, and a retry must receive the same bytes. So never change the text of a sentence: add a sentence with the next
 * free id, and keep the old one. The test render-reasons.test.ts compares each sentence with its first text.
 */

/**
 * The values that all findings (results of rules) of a decision share. `requested` is the amount that the payment takes from the
 * budget, as decimal text.
 */
export type Head = { readonly policyVersion: number; readonly unit: string; readonly requested: string };

/** The fields of a reason that depend on the values. */
export type Said = {
  readonly message: string;
  readonly pointer?: string;
  readonly limit?: string;
  readonly used?: string;
  readonly requested?: string;
  readonly remaining?: string;
  readonly unit?: string;
  readonly window?: ReasonWindow;
  readonly authorizationId?: string;
  readonly resumable?: boolean;
};

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

/** A sentence without values. */
export function fixed(id: number, code: ReasonCode, rule: string, message: string, pointer?: string): Sentence<[]> {
  const said = pointer === undefined ? { message } : { message, pointer };
  return { id, code, rule, say: () => said };
}
