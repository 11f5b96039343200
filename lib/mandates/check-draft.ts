import type { z } from "zod";
import { checkPolicy } from "#lib/mandates/check-policy.ts";
import { createMandate } from "#lib/mandates/contract.ts";
import { termsOf, type DraftTerms, type FieldOf } from "#lib/mandates/draft-body.ts";
import type { MandateDraft } from "#lib/mandates/draft.ts";

export type DraftErrors = ReadonlyMap<string, string>;

/** The body of createMandate. Omitted agents mean every agent; an omitted wallet means any wallet. */
export const createBody = ({ name, policy, agents, wallet }: DraftTerms) => ({
  name,
  policy,
  ...(agents !== null && { agents: [...agents] }),
  ...(wallet !== null && { wallet }),
});

/** The body of updateMandate: all fields of the form; null removes a value. */
export const updateBody = ({ agents, ...terms }: DraftTerms) => ({ ...terms, agents: agents === null ? null : [...agents] });

/**
 * The errors of a form, by field. They come from the schema of createMandate and from checkPolicy, which finds what a schema
 * cannot. Empty if the form can be sent. `decimals` are the decimals of the mandate's asset.
 */
export function checkDraft(draft: MandateDraft, decimals: number): DraftErrors {
  const { terms, fieldOf } = termsOf(draft);
  const parsed = createMandate.body.safeParse(createBody(terms), { reportInput: true });
  const found = parsed.success
    ? checkPolicy(parsed.data.policy, { decimals }).map(({ pointer, detail }) => ({ pointer: `/policy${pointer}`, detail }))
    : parsed.error.issues.flatMap((issue) => refusals("", issue));
  return fieldErrors(found, fieldOf);
}

type Refusal = { readonly pointer?: string | undefined; readonly detail: string };

/** The first error of each field. Errors that belong to no field of the form are dropped. */
export function fieldErrors(refused: readonly Refusal[], fieldOf: FieldOf): DraftErrors {
  const errors = new Map<string, string>();
  for (const { pointer, detail } of refused) {
    const field = fieldOf(pointer ?? "");
    if (field !== undefined && !errors.has(field)) errors.set(field, detail);
  }
  return errors;
}

/** The errors that belong to one issue of the schema. For a union, the errors of the alternative with the fewest errors. */
function refusals(base: string, issue: z.core.$ZodIssue): Refusal[] {
  const pointer = `${base}${issue.path.map((part) => `/${String(part)}`).join("")}`;
  if (issue.code === "invalid_union") {
    const [closest = []] = issue.errors.toSorted((a, b) => a.length - b.length);
    return closest.flatMap((one) => refusals(pointer, one));
  }
  return [{ pointer, detail: wordsOf(issue) }];
}

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.input === "" || (issue.code === "too_small" && issue.origin === "string")) return "Fill this in.";
  if (issue.code === "too_small" && issue.origin === "array") return "Choose at least one.";
  if (issue.code === "too_small") return `At least ${issue.minimum}.`;
  if (issue.code === "too_big" && issue.origin === "array") return `At most ${issue.maximum} entries.`;
  if (issue.code === "too_big") return `At most ${issue.maximum}${issue.origin === "string" ? " characters" : ""}.`;
  if (issue.code === "invalid_type") return "Write a whole number.";
  return issue.message;
}
