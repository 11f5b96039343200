import { useWatch } from "react-hook-form";
import { Choice } from "#components/ui/choice.tsx";
import { Field, Select } from "#components/ui/field.tsx";
import type { ApprovalMode, MandateDraft } from "#lib/mandates/draft/draft.ts";
import { secondsWords } from "#lib/mandates/policy/words.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";
import { useDraft, useUnit } from "./draft-form.ts";
import { amount, Disclosed, Term } from "./parts.tsx";

const modes: readonly { readonly mode: ApprovalMode; readonly name: string; readonly text?: string }[] = [
  { mode: "above", name: "Above an amount" },
  { mode: "firstPayment", name: "For the first payment to a seller" },
  { mode: "always", name: "Always" },
  { mode: "never", name: "Never", text: "Inside the limits, agents pay without asking" },
];

const levels: readonly (readonly [AssuranceLevel, string])[] = [
  ["softwareApproved", "Signed-in session"],
  ["passkeyApproved", "Passkey"],
  ["walletApproved", "Wallet signature"],
  ["hardwareApproved", "Attested hardware key"],
];

/** In seconds. The empty text stands for the default of the service, 30 minutes. */
const waits = ["", "300", "3600", "14400", "43200", "86400"] as const;

/** A stored mandate may have a wait that is not one of the choices. */
const waitOptions = (chosen: string): readonly (readonly [string, string])[] =>
  [...new Set<string>([...waits, chosen])].map((seconds) => [seconds, secondsWords(Number(seconds || 1_800))]);

export function Ask({ assured }: { readonly assured: boolean }) {
  const { form, field } = useDraft();
  const [mode, assurance, requestSeconds] = useWatch<MandateDraft, readonly ["mode", "assurance", "requestSeconds"]>({
    name: ["mode", "assurance", "requestSeconds"],
  });
  const unit = useUnit();
  const far = assurance === "walletApproved" || assurance === "hardwareApproved";
  return (
    <Term title="When to ask me" text="The payment waits until a person approves or declines.">
      <fieldset className="choices">
        <legend className="sr">When to ask me</legend>
        {modes.map(({ mode: value, name, text }) => (
          <Choice key={value} type="radio" value={value} {...form.register("mode")}>
            <strong>{name}</strong>
            {text !== undefined && <span>{text}</span>}
          </Choice>
        ))}
      </fieldset>
      {mode === "above" && <Field label="Ask me above" suffix={unit} {...amount} {...field("above")} />}
      {mode !== "never" && (
        <Select
          label="A request waits for"
          options={waitOptions(requestSeconds)}
          hint="Then it expires, and nothing is paid. A quote of the seller may end earlier."
          {...field("requestSeconds")}
        />
      )}
      <Disclosed summary="How you confirm" filled={assured} fields={["assurance"]}>
        <Select
          label="At least"
          options={levels}
          hint={far ? "Nobody can reach this yet: every payment would be denied." : "A payment with a weaker one is denied."}
          {...field("assurance")}
        />
      </Disclosed>
    </Term>
  );
}
