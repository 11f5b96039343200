import { get, type Path, set, useFormContext, type Resolver } from "react-hook-form";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import type { EditorChoices } from "#lib/pages/buyer/view-editor.ts";

/** Loaded on demand, because it contains the schemas of mandates, which are large. */
export const loadCheck = () => import("#lib/mandates/draft/check-draft.ts");

export const resolverOf =
  (coins: EditorChoices["coins"]): Resolver<MandateDraft> =>
  async (draft) => {
    const { checkDraft } = await loadCheck();
    const { decimals = 18 } = coins.find(({ asset, chain }) => `${asset} ${chain}` === draft.coin) ?? {};
    const wrong = checkDraft(draft, decimals);
    if (wrong.size === 0) return { values: draft, errors: {} };
    const errors = {};
    for (const [field, message] of wrong) set(errors, field, { type: "refused", message });
    return { values: {}, errors };
  };

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
