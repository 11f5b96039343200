import { useFormContext, useWatch } from "react-hook-form";
import { Panel } from "#components/ui/panel.tsx";
import { draftTermsOf } from "#lib/mandates/draft/draft-body.ts";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import { PlainWords } from "../sentences.tsx";
import { wordsOf } from "../words-of.ts";

export function LiveWords({ names }: { readonly names: Readonly<Record<string, string>> }) {
  const { getValues } = useFormContext<MandateDraft>();
  useWatch<MandateDraft>();
  const { terms } = draftTermsOf(getValues());
  const bound = { agents: terms.agents ?? undefined, wallet: terms.wallet ?? undefined };
  return (
    <Panel id="words" title="In plain words">
      <PlainWords summary={wordsOf(terms.policy, bound, names)} />
    </Panel>
  );
}
