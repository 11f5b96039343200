import type { DraftTerms, FieldOf } from "#lib/mandates/draft/draft-body.ts";

export type DraftErrors = ReadonlyMap<string, string>;

/** Omitted agents mean every agent; an omitted wallet means any wallet. */
export const createBody = ({ name, policy, agents, wallet }: DraftTerms) => ({
  name,
  policy,
  ...(agents !== null && { agents: [...agents] }),
  ...(wallet !== null && { wallet }),
});

/** Null removes a value. */
export const updateBody = ({ agents, ...terms }: DraftTerms) => ({ ...terms, agents: agents === null ? null : [...agents] });

export type Refusal = { readonly pointer?: string | undefined; readonly detail: string };

/** The first error of each field; errors that belong to no field of the form are dropped. */
export function fieldErrors(refused: readonly Refusal[], fieldOf: FieldOf): DraftErrors {
  const errors = new Map<string, string>();
  for (const { pointer, detail } of refused) {
    const field = fieldOf(pointer ?? "");
    if (field !== undefined && !errors.has(field)) errors.set(field, detail);
  }
  return errors;
}
