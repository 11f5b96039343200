import { useFieldArray, useWatch } from "react-hook-form";
import { Button } from "#components/ui/button.tsx";
import { Field, Select } from "#components/ui/field.tsx";
import type { LimitRow, MandateDraft } from "#lib/mandates/draft/draft.ts";
import type { EditorChoices } from "#lib/pages/buyer/view-editor.ts";
import { useDraft } from "./draft-form.ts";
import { amount, Disclosed } from "./parts.tsx";

const kinds = [
  ["amount", "An amount"],
  ["payments", "A number of payments"],
] as const;
const spans = [
  ["day", "a day"],
  ["week", "a week"],
  ["month", "a month"],
  ["year", "a year"],
  ["rolling", "in a rolling time"],
] as const;

type Common = Pick<EditorChoices, "zones"> & { readonly unit: string };

function Row({ at, remove, zones, unit }: Common & { readonly at: number; readonly remove: () => void }) {
  const { field } = useDraft();
  const row = useWatch<MandateDraft, `more.${number}`>({ name: `more.${at}` }) as LimitRow | undefined;
  return (
    <fieldset>
      <legend className="sr">Limit {at + 1}</legend>
      <div className="fields">
        <Select label="Limits" options={kinds} {...field(`more.${at}.kind`)} />
        <Select label="Time" options={spans} {...field(`more.${at}.span`)} />
        <Field
          label={row?.kind === "payments" ? "Payments" : "Amount"}
          {...(row?.kind === "amount" && { suffix: unit })}
          {...amount}
          {...field(`more.${at}.value`)}
        />
        {row?.span === "rolling" ? (
          <Field
            label="Length"
            hint="ISO 8601, such as PT24H or P7D"
            autoComplete="off"
            spellCheck={false}
            {...field(`more.${at}.rolling`)}
          />
        ) : (
          <Select label="Time zone" options={zones.map((zone) => [zone, zone])} {...field(`more.${at}.timezone`)} />
        )}
      </div>
      <Button size="small" className="mt-3" onClick={remove}>
        Remove limit {at + 1}
      </Button>
    </fieldset>
  );
}

const COUNT_MAX = 12;

export function MoreLimits({ zones, unit, filled }: Common & { readonly filled: boolean }) {
  const { form, field, errorOf } = useDraft();
  const { fields, append, remove } = useFieldArray<MandateDraft, "more">({ name: "more" });
  const add = () =>
    append({ kind: "amount", span: "rolling", timezone: form.getValues("timezone"), rolling: "PT24H", value: "" });
  return (
    <Disclosed summary="More limits" filled={filled} fields={["more", ...fields.map((_, at) => `more.${at}`), "cooldownSeconds"]}>
      <Field label="Seconds between two payments" inputMode="numeric" autoComplete="off" {...field("cooldownSeconds")} />
      {fields.map(({ id }, at) => (
        <Row key={id} at={at} zones={zones} unit={unit} remove={() => remove(at)} />
      ))}
      {errorOf("more") !== undefined && <p className="error">{errorOf("more")}</p>}
      {fields.length < COUNT_MAX && (
        <Button size="small" className="justify-self-start" onClick={add}>
          Add a limit
        </Button>
      )}
    </Disclosed>
  );
}
