import { useFieldArray, useWatch } from "react-hook-form";
import { Button } from "#components/ui/button.tsx";
import { Choice } from "#components/ui/choice.tsx";
import { Field, FieldError, Select } from "#components/ui/field.tsx";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import { useDraft } from "./draft-form.ts";
import { Term } from "./parts.tsx";

const kinds = [
  ["iban", "IBAN"],
  ["email", "E-mail address"],
  ["account", "Other account"],
  ["seller", "Seller registered here"],
] as const;

const payees = [
  { value: "ask", name: "Ask me about each" },
  { value: "listed", name: "Payees that I list", text: "You are asked about others" },
  { value: "any", name: "Any payee", text: "Inside the limits, agents pay without asking" },
] as const;

const LISTED_MAX = 100;

function Listed() {
  const { field } = useDraft();
  const { fields, append, remove } = useFieldArray<MandateDraft, "records.listed">({ name: "records.listed" });
  return (
    <>
      {fields.map(({ id }, at) => (
        <fieldset key={id}>
          <legend className="sr">Payee {at + 1}</legend>
          <div className="fields">
            <Select label="Kind" options={kinds} {...field(`records.listed.${at}.kind`)} />
            <Field label={`Payee ${at + 1}`} autoComplete="off" spellCheck={false} {...field(`records.listed.${at}.value`)} />
          </div>
          <Button size="small" className="mt-3" onClick={() => remove(at)}>
            Remove payee {at + 1}
          </Button>
        </fieldset>
      ))}
      {fields.length < LISTED_MAX && (
        <Button size="small" className="justify-self-start" onClick={() => append({ kind: "iban", value: "" })}>
          Add a payee
        </Button>
      )}
    </>
  );
}

function Records() {
  const { form, field } = useDraft();
  const chosen = useWatch<MandateDraft, "records.payees">({ name: "records.payees" });
  return (
    <>
      <fieldset className="choices">
        <legend className="label">Who may be paid elsewhere</legend>
        {payees.map(({ value, name, ...rest }) => (
          <Choice key={value} type="radio" value={value} {...form.register("records.payees")}>
            <strong>{name}</strong>
            {"text" in rest && <span>{rest.text}</span>}
          </Choice>
        ))}
      </fieldset>
      {chosen === "listed" && <Listed />}
      <Field
        label="Days until a payment that nobody closed is overdue"
        inputMode="numeric"
        autoComplete="off"
        hint="Then you are asked, and nothing is freed. Empty is 14 days. Hours such as PT36H."
        {...field("records.deadline")}
      />
    </>
  );
}

/** The rails that the service accepts today. */
export function Rails() {
  const { form, errorOf } = useDraft();
  const [unit, rails] = useWatch<MandateDraft, readonly ["unit", "rails"]>({ name: ["unit", "rails"] });
  const records = rails.includes("record");
  const error = errorOf("rails");
  /** Payments that are made elsewhere are in a currency, so it must be one of the assets. */
  const listCurrency = (isWanted: boolean) => {
    const coin = `${unit} iso4217:${unit}`;
    const others = form.getValues("rates").filter((rate) => rate.coin !== coin);
    if (isWanted) form.setValue("rates", [...others, { coin, counts: "1" }]);
    else if (others.length > 0) form.setValue("rates", others);
  };
  return (
    <Term title="What this mandate pays">
      <fieldset className="choices">
        <legend className="sr">What this mandate pays</legend>
        <Choice type="checkbox" value="x402" {...form.register("rails")}>
          <strong>Payments by x402</strong>
          <span>On the web, for resources and orders; MPP charges are included</span>
        </Choice>
        <Choice
          type="checkbox"
          value="record"
          disabled={unit === "" && !records}
          {...form.register("rails", { onChange: ({ target }) => target.value === "record" && listCurrency(target.checked) })}
        >
          <strong>Payments made elsewhere and recorded here</strong>
          <span>
            {unit === ""
              ? "Only with limits in USD or EUR, because such payments are in a currency"
              : "Such as an invoice that is paid by transfer: the amount is held until a person closes the payment"}
          </span>
        </Choice>
      </fieldset>
      {error !== undefined && <FieldError>{error}</FieldError>}
      {records && <Records />}
    </Term>
  );
}
