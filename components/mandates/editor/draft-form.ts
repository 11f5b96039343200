import { get, type Path, set, useFormContext, useWatch, type Resolver } from "react-hook-form";
import { draftUnit, type MandateDraft } from "#lib/mandates/draft/draft.ts";
import { UNIT_DECIMALS } from "#lib/money.ts";
import type { EditorChoices } from "#lib/pages/buyer/view-editor.ts";

/** Loaded on demand, because it contains the schemas of mandates, which are large. */
export const loadCheck = () => import("#lib/mandates/draft/check-draft.ts");

export const resolverOf =
  (coins: EditorChoices["coins"]): Resolver<MandateDraft> =>
  async (draft) => {
    const { checkDraft } = await loadCheck();
    const { decimals: own = 18 } = coins.find(({ asset, chain }) => `${asset} ${chain}` === draft.coin) ?? {};
    const decimals = draft.unit === "" ? own : UNIT_DECIMALS;
    const wrong = checkDraft(draft, decimals);
    if (wrong.size === 0) return { values: draft, errors: {} };
    const errors = {};
    for (const [field, message] of wrong) set(errors, field, { type: "refused", message });
    return { values: {}, errors };
  };

/** What the amounts of the form are in. */
export function useUnit(): string {
  const [unit, coin] = useWatch<MandateDraft, readonly ["unit", "coin"]>({ name: ["unit", "coin"] });
  return draftUnit({ unit, coin });
}

export function useDraft() {
  const form = useFormContext<MandateDraft>();
  const { errors } = form.formState;
  const errorOf = (path: string): string | undefined => {
    const found: { readonly message?: string } | undefined = get(errors, path);
    return found?.message;
  };
  const field = (path: Path<MandateDraft>) => ({ ...form.register(path), error: errorOf(path) });
  return { form, field, errorOf };
}
