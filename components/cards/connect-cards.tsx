"use client";

import { Plus } from "lucide-react";
import { Copyable } from "#components/ui/copyable.tsx";
import { Field } from "#components/ui/field.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";

const opener = (
  <>
    <Plus className="icon" aria-hidden />
    Connect Stripe
  </>
);

/** Stripe shows the secret of an endpoint that exists, and the connection's own address is known only after this. */
export function ConnectCards({ address }: { readonly address: string }) {
  const { state, ...dialog } = useFormDialog(() => import("#lib/cards/contract.ts").then((contract) => contract.connectCards), {
    defaults: { name: "", webhookSecret: "" },
    done: "Connected. Enter its address at Stripe now.",
  });
  return (
    <FormDialog
      {...dialog}
      state={state}
      trigger={opener}
      look={{ tone: "primary" }}
      title="Connect a Stripe account"
      nothing="Nothing was connected."
      submit="Connect"
    >
      <p className="text-sm">
        Add an endpoint at Stripe first. Stripe then shows its signing secret. If Stripe asks for an address, enter{" "}
        <Copyable value={address} label="address for now" head={60} /> for now: this page shows the right one after you connect.
      </p>
      <Field label="Name" autoComplete="off" hint="Such as the name of the Stripe account." {...state.field("name")} />
      <Field
        label="Signing secret"
        type="password"
        autoComplete="off"
        spellCheck={false}
        placeholder="whsec_…"
        hint="It is stored encrypted and never shown again. We need no API key: we decide, and Stripe moves the money."
        {...state.field("webhookSecret")}
      />
    </FormDialog>
  );
}
