import { useWatch } from "react-hook-form";
import { Choice } from "#components/ui/choice.tsx";
import { Field, FieldError } from "#components/ui/field.tsx";
import { visible } from "#lib/visible-text.ts";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import type { EditorChoices } from "#lib/pages/buyer/view-editor.ts";
import { useDraft } from "./draft-form.ts";
import { Disclosed, Term } from "./parts.tsx";

function Agents({ agents }: Pick<EditorChoices, "agents">) {
  const { form, errorOf } = useDraft();
  const everyAgent = useWatch<MandateDraft, "everyAgent">({ name: "everyAgent" });
  const error = errorOf("agents");
  return (
    <fieldset className="choices">
      <legend className="label">Agents</legend>
      <Choice type="checkbox" {...form.register("everyAgent")}>
        <strong>Every agent of the organization</strong>
        <span>Also those that are made later</span>
      </Choice>
      {!everyAgent &&
        agents.map(({ id, name }) => (
          <Choice key={id} type="checkbox" value={id} {...form.register("agents")}>
            <strong>
              <bdi>{visible(name)}</bdi>
            </strong>
            <span>{id}</span>
          </Choice>
        ))}
      {!everyAgent && agents.length === 0 && (
        <p className="hint">
          There is no service account yet. <a href="/settings/keys">Create one</a> for each agent.
        </p>
      )}
      {error !== undefined && <FieldError>{error}</FieldError>}
    </fieldset>
  );
}

export function Who({ agents, wallet }: Pick<EditorChoices, "agents"> & { readonly wallet: boolean }) {
  const { field } = useDraft();
  return (
    <Term title="Who may use it" text="Only these service accounts may spend.">
      <Field label="Name" autoComplete="off" maxLength={120} {...field("name")} />
      <Agents agents={agents} />
      <Disclosed summary="The wallet that pays" filled={wallet} fields={["wallet"]}>
        <Field
          label="Wallet address (optional)"
          hint="A credential that another wallet signed is refused."
          autoComplete="off"
          spellCheck={false}
          {...field("wallet")}
        />
      </Disclosed>
    </Term>
  );
}
