import { Filters, FilterDate, FilterSearch, FilterSelect } from "#components/ui/filters.tsx";
import { one, type PageQuery } from "#components/ui/page-query.ts";
import { statusWord } from "#components/ui/status-badge.tsx";
import { visible } from "#lib/visible-text.ts";
import type { PaymentChoices } from "#lib/pages/buyer/view-payments.ts";
import { Outcome, SettlementStatus } from "#lib/vocabulary.ts";

type Props = { readonly path: string; readonly query: PageQuery; readonly choices: PaymentChoices };
type Option = readonly [value: string, text: string];

/** Adds the value from the page's URL as an option if the list lacks it. */
function withChosen(options: readonly Option[], chosen: string | undefined): readonly Option[] {
  const known = chosen === undefined || options.some(([value]) => value === chosen);
  return known ? options : [...options, [chosen, chosen]];
}

export function PaymentFilters({ path, query, choices }: Props) {
  const value = (name: string) => one(query, name);
  const filter = (name: string) => ({ name, value: value(name) });
  const density = value("density");
  return (
    <Filters label="Payments" path={path}>
      <FilterSearch label="Search payments" {...filter("q")} placeholder="Amount, domain, id or transaction" />
      <FilterSelect
        label="Decision"
        {...filter("outcome")}
        any="Any decision"
        options={Outcome.options.map((option) => [option, statusWord("outcome", option)])}
      />
      <FilterSelect
        label="Settlement"
        {...filter("settlement")}
        any="Any settlement"
        options={SettlementStatus.options.map((option) => [option, statusWord("settlement", option)])}
      />
      <FilterSelect
        label="Mandate"
        {...filter("mandate")}
        any="Any mandate"
        options={withChosen(
          choices.mandates.map(({ mandateId, name }) => [mandateId, visible(name)]),
          value("mandate"),
        )}
      />
      <FilterSelect
        label="Asked by"
        {...filter("agent")}
        any="Anyone"
        options={withChosen(
          choices.askers.map(({ subjectId, name }) => [subjectId, visible(name)]),
          value("agent"),
        )}
      />
      <FilterSearch label="Seller’s domain" {...filter("seller")} placeholder="Seller’s domain" />
      <FilterDate label="From" {...filter("createdFrom")} />
      <FilterDate label="To" {...filter("createdTo")} />
      {density !== undefined && <input type="hidden" name="density" value={density} />}
    </Filters>
  );
}
