"use client";

import { useState } from "react";
import { Drawer } from "#components/ui/drawer.tsx";
import { Field, Select } from "#components/ui/field.tsx";
import { OperationForm, Submit, useOperationForm } from "#components/ui/form.tsx";
import { assuranceOptions } from "./choices.ts";

/** A seller's domain cannot change later, because the seller proves this one domain. */
export function RegisterSellerForm({ onDone }: { readonly onDone?: () => void }) {
  const state = useOperationForm(() => import("#lib/sellers/contract.ts").then((contract) => contract.registerSeller), {
    defaults: { name: "", domain: "", minimumAssuranceLevel: "softwareApproved" },
    ...(onDone && { done: onDone }),
  });
  return (
    <OperationForm state={state} nothing="Nothing was registered.">
      <Field label="Name" hint="Buyers see it on approvals and receipts." autoComplete="organization" {...state.field("name")} />
      <Field
        label="Domain"
        hint="The host of your resources, such as data.example.com. Without https:// and path."
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        {...state.field("domain")}
      />
      <Select
        label="Buyers confirm with"
        hint="Asked where a person approves a payment to you. Resources can ask for more."
        options={assuranceOptions}
        {...state.field("minimumAssuranceLevel")}
      />
      <div className="actions">
        <Submit state={state}>Register seller</Submit>
      </div>
    </OperationForm>
  );
}

export function RegisterAnother() {
  const [open, setOpen] = useState(false);
  return (
    <Drawer trigger="Register another seller" title="Register a seller" open={open} onOpenChange={setOpen}>
      <RegisterSellerForm onDone={() => setOpen(false)} />
    </Drawer>
  );
}
