import { useFormContext, useWatch } from "react-hook-form";
import { termsOf } from "#lib/mandates/draft-body.ts";
import type { MandateDraft } from "#lib/mandates/draft.ts";
import { PlainWords } from "../sentences.tsx";
import { wordsOf } from "../words-of.ts";

export function LiveWords({ names }: { readonly names: Readonly<Record<string, string>> }) {
  const { getValues } = useFormContext<MandateDraft>();
  useWatch<MandateDraft>();
  const { terms } = termsOf(getValues());
  const bound = { agents: terms.agents ?? undefined, wallet: terms.wallet ?? undefined };
  return (
    <section className="panel" aria-labelledby="words">
      <div className="panel-head">
        <h2 id="words">In plain words</h2>
      </div>
      <PlainWords summary={wordsOf(terms.policy, bound, names)} />
    </section>
  );
}
