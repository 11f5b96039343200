import { useFieldArray, useWatch } from "react-hook-form";
import { Button } from "#components/ui/button.tsx";
import { Field, Select } from "#components/ui/field.tsx";
import { networkName } from "#lib/chains/network-name.ts";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import type { EditorChoices } from "#lib/pages/buyer/view-editor.ts";
import { useDraft } from "./draft-form.ts";
import { amount, Term } from "./parts.tsx";

const ASSETS_MAX = 8;

type Options = readonly (readonly [value: string, text: string])[];

const units: Options = [
  ["", "The asset, which is the only one"],
  ["USD", "USD, for payments in several assets"],
  ["EUR", "EUR, for payments in several assets"],
];

type RowProps = { readonly at: number; readonly options: Options; readonly unit: string; readonly remove: (() => void) | null };

function Rate({ at, options, unit, remove }: RowProps) {
  const { field } = useDraft();
  const coin = useWatch<MandateDraft, `rates.${number}.coin`>({ name: `rates.${at}.coin` });
  const [asset = ""] = coin.split(" ");
  return (
    <fieldset>
      <legend className="sr">Asset {at + 1}</legend>
      <div className="fields">
        <Select label="Asset" options={options} {...field(`rates.${at}.coin`)} />
        <Field label={`1 ${asset} counts as`} suffix={unit} {...amount} {...field(`rates.${at}.counts`)} />
      </div>
      {remove && (
        <Button size="small" className="mt-3" onClick={remove}>
          Remove {asset}
        </Button>
      )}
    </fieldset>
  );
}

/** In which payments by card and those that are made elsewhere are. */
const currencies: Options = [
  ["USD iso4217:USD", "USD, paid by card or elsewhere"],
  ["EUR iso4217:EUR", "EUR, paid by card or elsewhere"],
];

function Rates({ coins, unit }: { readonly coins: Options; readonly unit: string }) {
  const { fields, append, remove } = useFieldArray<MandateDraft, "rates">({ name: "rates" });
  const [rates, rails] = useWatch<MandateDraft, readonly ["rates", "rails"]>({ name: ["rates", "rails"] });
  const inCurrency = rails.includes("record") || rails.includes("card");
  const offered = currencies.filter(([value]) => inCurrency || rates.some(({ coin }) => coin === value));
  const options = [...coins, ...offered];
  const next = options.find(([value]) => rates.every(({ coin }) => coin !== value));
  return (
    <>
      <p className="text-sm text-muted">
        Every payment counts at the rate that you write here, whatever the market says. A lower rate lets more be spent.
      </p>
      {fields.map(({ id }, at) => (
        <Rate key={id} at={at} options={options} unit={unit} remove={fields.length > 1 ? () => remove(at) : null} />
      ))}
      {next && fields.length < ASSETS_MAX && (
        <Button size="small" className="justify-self-start" onClick={() => append({ coin: next[0], counts: "" })}>
          Add an asset
        </Button>
      )}
    </>
  );
}

type Props = Pick<EditorChoices, "coins"> & { readonly isFixed: boolean };

export function PaysIn({ coins, isFixed }: Props) {
  const { field } = useDraft();
  const [unit, coin] = useWatch<MandateDraft, readonly ["unit", "coin"]>({ name: ["unit", "coin"] });
  const options = coins.map(({ asset, chain }) => [`${asset} ${chain}`, `${asset} on ${networkName(chain)}, ${chain}`] as const);
  const only = (list: Options, chosen: string) => (isFixed ? list.filter(([value]) => value === chosen) : list);
  return (
    <Term
      title="Assets"
      {...(isFixed && { text: "A mandate keeps this for life. With a unit, its assets and rates may change." })}
    >
      <Select label="Limits are in" options={only(units, unit)} {...field("unit")} />
      {unit === "" ? (
        <Select label="Asset" options={only(options, coin)} {...field("coin")} />
      ) : (
        <Rates coins={options} unit={unit} />
      )}
    </Term>
  );
}
