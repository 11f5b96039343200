import { useWatch } from "react-hook-form";
import { Choice } from "#components/ui/choice.tsx";
import { Field, FieldError, Select } from "#components/ui/field.tsx";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import { weekdays } from "#lib/mandates/policy/words.ts";
import type { EditorChoices } from "#lib/pages/buyer/view-editor.ts";
import { useDraft } from "./draft-form.ts";
import { Disclosed, Term } from "./parts.tsx";

const hour = { inputMode: "numeric", maxLength: 5, autoComplete: "off" } as const;

function Hours({ zones }: Pick<EditorChoices, "zones">) {
  const { form, field, errorOf } = useDraft();
  const error = errorOf("schedule.days");
  return (
    <>
      <fieldset>
        <legend className="label mb-2">Days</legend>
        <div className="grid grid-cols-7 gap-1 md:flex md:flex-wrap md:gap-2">
          {weekdays.map((day) => (
            <label key={day} className="relative">
              <input
                className="peer absolute inset-0 size-full opacity-0"
                type="checkbox"
                value={day}
                aria-label={`${day[0]?.toUpperCase()}${day.slice(1)}`}
                {...form.register("schedule.days")}
              />
              <span
                className="grid min-h-11 place-items-center rounded-sm border border-border-strong text-sm font-550 text-muted peer-checked:border-accent peer-checked:bg-accent-wash peer-checked:text-accent peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-focus md:min-h-9 md:min-w-11"
                aria-hidden
              >
                {day[0]?.toUpperCase()}
                {day.slice(1, 3)}
              </span>
            </label>
          ))}
        </div>
        {error !== undefined && <FieldError>{error}</FieldError>}
      </fieldset>
      <div className="fields">
        <Field label="From" hint="Such as 06:00" {...hour} {...field("schedule.from")} />
        <Field label="To" hint="24:00 is midnight" {...hour} {...field("schedule.to")} />
        <div className="col-span-full">
          <Select label="Time zone of these hours" options={zones.map((zone) => [zone, zone])} {...field("schedule.timezone")} />
        </div>
      </div>
    </>
  );
}

export function When({ zones, valid }: Pick<EditorChoices, "zones"> & { readonly valid: boolean }) {
  const { form, field } = useDraft();
  const on = useWatch<MandateDraft, "schedule.on">({ name: "schedule.on" });
  return (
    <Term title="When">
      <Choice type="checkbox" {...form.register("schedule.on")}>
        <strong>Only on some days, between some hours</strong>
      </Choice>
      {on && <Hours zones={zones} />}
      <Disclosed summary="Beginning and end" filled={valid} fields={["validFrom", "validUntil"]}>
        <div className="fields">
          <Field label="Begins, in UTC" type="datetime-local" className="min-w-0" step="any" {...field("validFrom")} />
          <Field label="Ends, in UTC" type="datetime-local" className="min-w-0" step="any" {...field("validUntil")} />
        </div>
      </Disclosed>
    </Term>
  );
}
