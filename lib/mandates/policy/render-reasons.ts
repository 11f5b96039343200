import type { Finding, Findings, Reason, Value } from "#lib/mandates/policy/facts.ts";
import type { Sentence } from "#lib/mandates/policy/sentences/sentence.ts";
import * as intent from "#lib/mandates/policy/sentences/intent.ts";
import * as limits from "#lib/mandates/policy/sentences-limits.ts";
import * as mandate from "#lib/mandates/policy/sentences/mandate.ts";
import * as card from "#lib/mandates/policy/sentences/card.ts";
import * as record from "#lib/mandates/policy/sentences/record.ts";
import * as seller from "#lib/mandates/policy/sentences/seller.ts";
import * as waived from "#lib/mandates/policy/sentences/waived.ts";
import { Problem } from "#lib/problem.ts";

const isSentence = (value: unknown): value is Sentence => typeof value === "object" && value !== null && "say" in value;

export const sentences: ReadonlyMap<number, Sentence> = new Map(
  [mandate, intent, seller, limits, waived, record, card].flatMap((file) =>
    Object.values(file as Readonly<Record<string, unknown>>).flatMap((value) =>
      isSentence(value) ? [[value.id, value] as const] : [],
    ),
  ),
);

/** @throws Problem service_unavailable if a newer release stored the finding with a sentence that this release does not have */
export function sentenceOf([id]: Finding): Sentence {
  const found = sentences.get(id);
  if (found) return found;
  const detail = "A newer release of the service wrote this decision. Ask again with the same idempotency key.";
  throw new Problem("service_unavailable", { detail, retryAfterSeconds: 5 });
}

export const asksPerson = (finding: Finding): boolean => sentenceOf(finding).code === "approval_required";
const effects: Readonly<Record<string, "allow" | "info">> = { satisfied: "allow", request_repeated: "info" };
export const denies = (finding: Finding): boolean => !asksPerson(finding) && effects[sentenceOf(finding).code] === undefined;

/** The same findings always give the same bytes. */
export function renderReasons([, policyVersion, unit, requested, ...all]: Findings): readonly Reason[] {
  const head = { policyVersion, unit, requested };
  const asked = all.some(denies) ? "info" : "approval";
  return all.map((finding) => {
    const { code, rule, say } = sentenceOf(finding);
    const values = finding.slice(1) as Value[];
    const request = finding.at(-1);
    const effect = code === "approval_required" ? asked : (effects[code] ?? "deny");
    const asking = typeof request === "object" ? request : null;
    return { code, rule, effect, ...say(head, ...values), ...asking, policyVersion };
  });
}
