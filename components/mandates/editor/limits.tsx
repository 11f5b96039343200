import { useWatch } from "react-hook-form";
import { Field, Select } from "#components/ui/field.tsx";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import type { EditorChoices } from "#lib/pages/buyer/view-editor.ts";
import { useDraft, useUnit } from "./draft-form.ts";
import { MoreLimits } from "./more-limits.tsx";
import { amount, Term } from "./parts.tsx";

export function Limits({ zones, more }: Pick<EditorChoices, "zones"> & { readonly more: boolean }) {
  const { field } = useDraft();
  const timezone = useWatch<MandateDraft, "timezone">({ name: "timezone" });
  const unit = useUnit();
  return (
    <Term title="Limits" text="Set a limit per payment, and at least one per day, month or in total. Leave empty for no limit.">
      <div className="fields">
        <Field label="Per payment" suffix={unit} hint="Fees included" {...amount} {...field("perPayment")} />
        <Field label="A day" suffix={unit} hint={`Midnight to midnight, ${timezone}`} {...amount} {...field("day")} />
        <Field label="A month" suffix={unit} hint={`First to last day, ${timezone}`} {...amount} {...field("month")} />
        <Field label="In all" suffix={unit} hint="For the life of the mandate" {...amount} {...field("total")} />
        <Field label="Payments a day" inputMode="numeric" autoComplete="off" {...field("countDay")} />
        <Select label="Time zone" options={zones.map((zone) => [zone, zone])} {...field("timezone")} />
      </div>
      <MoreLimits zones={zones} unit={unit} filled={more} />
    </Term>
  );
}
