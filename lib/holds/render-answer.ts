import type { Findings, Reason } from "#lib/mandates/policy/facts.ts";
import { renderReasons } from "#lib/mandates/policy/render-reasons.ts";
import { policyDecisionIdOf, reservationIdOf } from "#lib/holds/ids.ts";
import { toWire } from "#lib/time.ts";

type AnswerFields = {
  readonly authorizationId: string;
  readonly mandateId: string;
  readonly intentId: string;
  readonly outcome: string;
  readonly denialCode: string | null;
  readonly held: boolean;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** Do not change the order of the fields, because a retry must get the same bytes as the first request. */
export function renderAnswer(row: AnswerFields, reasons: readonly Reason[]): string {
  const text = JSON.stringify;
  const denied = row.denialCode === null ? "" : `,"denialCode":${text(row.denialCode)}`;
  const held = row.held ? `,"reservationId":${text(reservationIdOf(row))}` : "";
  const ids = `"policyDecisionId":${text(policyDecisionIdOf(row))},"mandateId":${text(row.mandateId)},"intentId":${text(row.intentId)}`;
  const decided = `{${ids},"outcome":${text(row.outcome)},"reasons":${text(reasons)}${denied}${held},"createdAt":"${toWire(row.createdAt)}"}`;
  return `{"authorizationId":${text(row.authorizationId)},"policyDecision":${decided},"expiresAt":"${toWire(row.expiresAt)}"}`;
}

export const reasonsOf = ({ findings }: { readonly findings: string }): readonly Reason[] =>
  renderReasons(JSON.parse(findings) as Findings);

/** For a retry, writes the body of the first reply again from the stored row. */
export const answerOf = (row: AnswerFields & { readonly findings: string }): string => renderAnswer(row, reasonsOf(row));
