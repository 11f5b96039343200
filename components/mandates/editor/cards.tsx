import { useWatch } from "react-hook-form";
import { Choice } from "#components/ui/choice.tsx";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import { useDraft } from "./draft-form.ts";
import { Entries } from "./entries.tsx";

const merchants = [
  {
    value: "ask",
    name: "A person clears each purchase",
    text: "The card is declined first, and the same purchase passes once after a person has cleared it",
  },
  { value: "listed", name: "Only merchants that I name", text: "A person clears purchases at others" },
  { value: "any", name: "Any merchant", text: "Inside the limits, cards pay without asking" },
] as const;

const toCategory = (entry: string): string => entry.toLowerCase().replaceAll(/\s+/g, "_");

function Named() {
  return (
    <>
      <p className="text-sm text-muted">A merchant must be in each list that is not empty.</p>
      <Entries
        path="cards.categories"
        label="Categories"
        hint="Stripe’s names, such as computer_software_stores. Separate them with commas."
        blanks
        tidy={toCategory}
      />
      <Entries path="cards.countries" label="Countries" hint="Two letters, such as DE." tidy={(entry) => entry.toUpperCase()} />
      <Entries
        path="cards.merchants"
        label="Merchants"
        hint="The network_id of a merchant, which Stripe shows with each authorization."
      />
    </>
  );
}

export function Cards() {
  const { form } = useDraft();
  const chosen = useWatch<MandateDraft, "cards.pays">({ name: "cards.pays" });
  return (
    <>
      <fieldset className="choices">
        <legend className="label">Where cards pay</legend>
        {merchants.map(({ value, name, text }) => (
          <Choice key={value} type="radio" value={value} {...form.register("cards.pays")}>
            <strong>{name}</strong>
            <span>{text}</span>
          </Choice>
        ))}
      </fieldset>
      {chosen === "listed" && <Named />}
    </>
  );
}
