"use client";

import { useId, useState } from "react";
import { ProductRoles } from "#components/organization/product-roles.tsx";
import { Field } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import { deriveSlug } from "#lib/identity/members/slug.ts";

export function OnboardingForm({ host, returnTo }: { readonly host: string; readonly returnTo: string }) {
  const id = useId();
  const [isOwnSlug, setOwnSlug] = useState(false);
  const state = useOperationForm(
    () => import("#lib/identity/sessions/contract.ts").then((contract) => contract.completeOnboarding),
    {
      defaults: { organizationName: "", organizationSlug: "", productRoles: ["buyer"] },
      done: () => location.assign(returnTo),
      refresh: "never",
      once: true,
    },
  );
  const derive = ({ target }: { readonly target: { readonly value: string } }) => {
    if (!isOwnSlug) state.form.setValue("organizationSlug", target.value.trim() === "" ? "" : deriveSlug(target.value));
  };
  return (
    <div className="panel">
      <OperationForm
        id={id}
        state={state}
        nothing="The organization was not created."
        className="grid gap-6 p-4 md:p-6"
        aria-label="Organization"
      >
        <Field
          label="Name"
          autoComplete="organization"
          maxLength={200}
          hint="Sellers see this name on receipts."
          {...state.field("organizationName", { onChange: derive })}
        />
        <Field
          label="Short name"
          prefix={`${host}/`}
          autoComplete="off"
          spellCheck={false}
          maxLength={48}
          hint="Lower case letters, digits and hyphens."
          {...state.field("organizationSlug", { onChange: () => setOwnSlug(true) })}
        />
        <ProductRoles
          chosen={["buyer"]}
          hint="Choose one or both. You can change it later."
          field={state.field("productRoles")}
        />
      </OperationForm>
      <div className="flex flex-wrap items-center justify-end gap-3 border-t p-4 md:px-6">
        <Submit state={state} form={id} size="large" className="max-md:w-full">
          Create organization
        </Submit>
      </div>
    </div>
  );
}
