import type { z } from "zod";
import { checkPolicy } from "#lib/mandates/policy/check-policy.ts";
import { createMandate } from "#lib/mandates/contract.ts";
import { draftTermsOf } from "#lib/mandates/draft/draft-body.ts";
import { createBody, fieldErrors, type DraftErrors, type Refusal } from "#lib/mandates/draft/draft-request.ts";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";

/** The errors by field; checkPolicy finds those that the schema of createMandate cannot. */
export function checkDraft(draft: MandateDraft, decimals: number): DraftErrors {
  const { terms, fieldOf } = draftTermsOf(draft);
  const parsed = createMandate.body.safeParse(createBody(terms), { reportInput: true });
  const found = parsed.success
    ? checkPolicy(parsed.data.policy, { decimals }).map(({ pointer, detail }) => ({ pointer: `/policy${pointer}`, detail }))
    : parsed.error.issues.flatMap((issue) => refusals("", issue));
  return fieldErrors(found, fieldOf);
}

type Issue = z.core.$ZodIssue;
const depthOf = (issues: readonly Issue[]): number => issues[0]?.path.length ?? 0;

/** For a union: the errors of the alternative with the fewest errors; of those, of the one that got furthest. */
function refusals(base: string, issue: Issue): Refusal[] {
  const pointer = `${base}${issue.path.map((part) => `/${String(part)}`).join("")}`;
  if (issue.code === "invalid_union") {
    const [closest = []] = issue.errors.toSorted((a, b) => a.length - b.length || depthOf(b) - depthOf(a));
    return closest.flatMap((one) => refusals(pointer, one));
  }
  return [{ pointer, detail: wordsOf(issue) }];
}

function wordsOf(issue: Issue): string {
  if (issue.input === "" || (issue.code === "too_small" && issue.origin === "string")) return "Fill this in.";
  if (issue.code === "too_small" && issue.origin === "array") return "Choose at least one.";
  if (issue.code === "too_small") return `At least ${issue.minimum}.`;
  if (issue.code === "too_big" && issue.origin === "array") return `At most ${issue.maximum} entries.`;
  if (issue.code === "too_big") return `At most ${issue.maximum}${issue.origin === "string" ? " characters" : ""}.`;
  if (issue.code === "invalid_type") return "Write a whole number.";
  return issue.message;
}
