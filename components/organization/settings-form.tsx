"use client";

import { Field, Select } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import type { ProductRole } from "#lib/vocabulary.ts";
import { ProductRoles } from "./product-roles.tsx";

type Props = {
  readonly organizationId: string;
  readonly name: string;
  readonly productRoles: readonly ProductRole[];
  readonly timezone: string | null;
  readonly zones: readonly string[];
};

/** The operation takes any part of the settings; the form sends all of them. */
const loadWhole = () =>
  import("#lib/identity/members/contract.ts").then(({ updateOrganization }) => ({
    ...updateOrganization,
    body: updateOrganization.body.required({ name: true }),
  }));

export function SettingsForm({ organizationId, name, productRoles, timezone, zones }: Props) {
  const state = useOperationForm(loadWhole, {
    defaults: { name, productRoles: [...productRoles], timezone },
    params: { organizationId },
    done: "Saved",
  });
  return (
    <OperationForm state={state} nothing="Nothing was changed." className="grid gap-6" aria-label="Organization">
      <Field
        label="Name"
        autoComplete="organization"
        maxLength={200}
        defaultValue={name}
        hint="Sellers see this name on receipts."
        {...state.field("name")}
      />
      <ProductRoles
        chosen={productRoles}
        hint="Chooses the pages that members see. Mandates, keys and paid resources stay as they are."
        field={state.field("productRoles")}
      />
      <Select
        label="Time zone of new mandates"
        defaultValue={timezone ?? ""}
        options={[["", "The author’s time zone"], ...zones.map((zone) => [zone, zone] as const)]}
        {...state.field("timezone", { setValueAs: (zone: string) => (zone === "" ? null : zone) })}
      />
      <div>
        <Submit state={state}>Save</Submit>
      </div>
    </OperationForm>
  );
}
