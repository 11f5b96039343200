import { useWatch } from "react-hook-form";
import { Choice } from "#components/ui/choice.tsx";
import { Field, Select } from "#components/ui/field.tsx";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import { useDraft, useUnit } from "./draft-form.ts";
import { Entries } from "./entries.tsx";
import { hostOf } from "./host-of.ts";
import { amount, Disclosed, Term } from "./parts.tsx";

function Domains() {
  const { form } = useDraft();
  const only = useWatch<MandateDraft, "domains.only">({ name: "domains.only" });
  return (
    <>
      <div className="choices">
        <Choice type="checkbox" {...form.register("domains.only")}>
          <strong>Only at these domains</strong>
          <span>
            Other domains are denied; a domain includes its subdomains. A seller must have verified the domain, or the domain
            itself must name the same payee when we ask it
          </span>
        </Choice>
      </div>
      {only && <Entries path="domains.allow" label="Add a domain" hint="Such as weather.example" tidy={hostOf} />}
    </>
  );
}

function Sellers() {
  const { form } = useDraft();
  return (
    <fieldset className="choices">
      <legend className="label">Sellers</legend>
      <Choice type="checkbox" {...form.register("verified")}>
        <strong>Verified sellers only</strong>
        <span>The domain was proved to this service</span>
      </Choice>
      <Choice type="checkbox" {...form.register("unregistered")}>
        <strong>Also sellers that are not registered here</strong>
        <span>Most sellers on the web are not; domain and address rules apply to them too</span>
      </Choice>
    </fieldset>
  );
}

const lists = [
  { name: "sellers", only: "Only these sellers", allow: "Add a seller id", deny: "Never these seller ids" },
  { name: "payTo", only: "Only these receiving addresses", allow: "Add an address", deny: "Never these addresses" },
] as const;

function Finer() {
  const { form } = useDraft();
  const [sellers, payTo, resources] = useWatch<MandateDraft, readonly ["sellers.only", "payTo.only", "resources.only"]>({
    name: ["sellers.only", "payTo.only", "resources.only"],
  });
  const only = { sellers, payTo };
  return (
    <>
      <Entries path="domains.deny" label="Never at these domains" tidy={hostOf} />
      {lists.map(({ name, only: title, allow, deny }) => (
        <div className="grid min-w-0 grid-cols-1 gap-5" key={name}>
          <Choice type="checkbox" {...form.register(`${name}.only`)}>
            <strong>{title}</strong>
          </Choice>
          {only[name] && <Entries path={`${name}.allow`} label={allow} />}
          <Entries path={`${name}.deny`} label={deny} />
        </div>
      ))}
      <Choice type="checkbox" {...form.register("resources.only")}>
        <strong>Only these resources</strong>
      </Choice>
      {resources && (
        <Entries
          path="resources.allow"
          label="Add a resource"
          hint="Seller id and resource id, or seller id, method and path: sel_… GET /reports/{id}"
          blanks
        />
      )}
    </>
  );
}

const fees = [
  ["none", "No limit of its own"],
  ["percent", "A share of the price"],
  ["amount", "An amount"],
] as const;

function Fee() {
  const { field } = useDraft();
  const unit = useUnit();
  const as = useWatch<MandateDraft, "fee.as">({ name: "fee.as" });
  return (
    <div className="fields">
      <Select label="Service fee, at most" options={fees} {...field("fee.as")} />
      {as !== "none" && (
        <Field
          label={as === "percent" ? "Share of the price" : "Fee on one payment"}
          suffix={as === "percent" ? "%" : unit}
          {...amount}
          {...field("fee.value")}
        />
      )}
    </div>
  );
}

const finerFields = [
  "domains.deny",
  "sellers.allow",
  "sellers.deny",
  "payTo.allow",
  "payTo.deny",
  "resources.allow",
  "fee.value",
];

export function Where({ finer }: { readonly finer: boolean }) {
  return (
    <Term title="Where" text="Sellers that are registered here, unless you say otherwise.">
      <Domains />
      <Sellers />
      <Disclosed summary="Sellers, addresses, resources and fees in detail" filled={finer} fields={finerFields}>
        <Finer />
        <Fee />
      </Disclosed>
    </Term>
  );
}
