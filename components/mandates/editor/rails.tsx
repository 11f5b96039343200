import { useFieldArray, useWatch } from "react-hook-form";
import { Button } from "#components/ui/button.tsx";
import { Choice } from "#components/ui/choice.tsx";
import { Field, FieldError, Select } from "#components/ui/field.tsx";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import { useDraft } from "./draft-form.ts";
import { Cards } from "./cards.tsx";
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

/** The rails whose payments are in a currency. */
const inCurrency = [
  {
    rail: "record",
    name: "Payments made elsewhere and recorded here",
    text: "Such as an invoice that is paid by transfer: the amount is held until a person closes the payment",
  },
  {
    rail: "card",
    name: "Payments by card",
    text: "Stripe asks this mandate before a card pays. Cards are given to it on the page Cards",
  },
] as const;

/** The rails that the service accepts today. */
export function Rails() {
  const { form, errorOf } = useDraft();
  const [unit, rails] = useWatch<MandateDraft, readonly ["unit", "rails"]>({ name: ["unit", "rails"] });
  const error = errorOf("rails");
  /** Such payments are in a currency, so it must be one of the assets while one of these rails is chosen. */
  const listCurrency = () => {
    const coin = `${unit} iso4217:${unit}`;
    const rates = form.getValues("rates");
    const others = rates.filter((rate) => rate.coin !== coin);
    const isWanted = inCurrency.some(({ rail }) => form.getValues("rails").includes(rail));
    if (isWanted && others.length === rates.length) form.setValue("rates", [...others, { coin, counts: "1" }]);
    else if (!isWanted && others.length > 0) form.setValue("rates", others);
  };
  return (
    <Term title="What this mandate pays">
      <fieldset className="choices">
        <legend className="sr">What this mandate pays</legend>
        <Choice type="checkbox" value="x402" {...form.register("rails")}>
          <strong>Payments by x402</strong>
          <span>On the web, for resources and orders; MPP charges are included</span>
        </Choice>
        {inCurrency.map(({ rail, name, text }) => (
          <Choice
            key={rail}
            type="checkbox"
            value={rail}
            disabled={unit === "" && !rails.includes(rail)}
            {...form.register("rails", { onChange: ({ target }) => target.value !== "x402" && listCurrency() })}
          >
            <strong>{name}</strong>
            <span>{unit === "" ? "Only with limits in USD or EUR, because such payments are in a currency" : text}</span>
          </Choice>
        ))}
      </fieldset>
      {error !== undefined && <FieldError>{error}</FieldError>}
      {rails.includes("record") && <Records />}
      {rails.includes("card") && <Cards />}
    </Term>
  );
}
