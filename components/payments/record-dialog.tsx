"use client";

import { useState } from "react";
import { Field, Select } from "#components/ui/field.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";

type Props = {
  readonly authorizationId: string;
  readonly asset: string;
  /** What is still held, in the payment's asset, if that is known; else empty. */
  readonly open: string;
  readonly isClosed: boolean;
};

const said = { paid: "Recorded, and closed", partlyPaid: "Recorded", notPaid: "Closed", refunded: "Refund recorded" } as const;

/** For a person: what an agent records frees nothing. */
export function RecordDialog({ authorizationId, asset, open, isClosed }: Props) {
  // The parts of a payment are told apart by their keys. The page mounts this anew after each part.
  const [idempotencyKey] = useState(() => crypto.randomUUID());
  const dialog = useFormDialog(
    () => import("#lib/payments/executions/record-contract.ts").then((contract) => contract.recordPayment),
    {
      defaults: { idempotencyKey, asset, outcome: isClosed ? "refunded" : "paid", amount: open, reference: "" },
      params: { authorizationId },
      done: (_, { outcome }) => said[outcome],
    },
  );
  const { field, form } = dialog.state;
  const isNotPaid = form.watch("outcome") === "notPaid";
  const whileOpen: readonly (readonly [string, string])[] = [
    ["paid", "It was paid, and nothing more will be"],
    ["partlyPaid", "A part was paid"],
    ["notPaid", "Nothing more was paid"],
  ];
  return (
    <FormDialog
      {...dialog}
      trigger={isClosed ? "Record a refund" : "Record or close"}
      look={{ tone: "primary" }}
      title="What happened to this payment"
      description="Closing it frees what is still held. It asks for the same proof as allowing that amount."
      nothing="Nothing was recorded."
      submit="Record"
    >
      <Select
        label="What happened"
        options={[
          ...(isClosed ? [["partlyPaid", "It was paid after all"] as const] : whileOpen),
          ["refunded", "Money came back"],
        ]}
        {...field("outcome", {
          onChange: ({ target }: { readonly target: { readonly value: string } }) =>
            form.setValue("amount", target.value === "notPaid" ? "0" : target.value === "refunded" ? "" : open),
        })}
      />
      <Field
        label={`Amount in ${asset}`}
        inputMode="decimal"
        autoComplete="off"
        readOnly={isNotPaid}
        hint={isNotPaid ? "Nothing more was paid, so this is 0." : "Of this part, not the sum of all parts."}
        {...field("amount")}
      />
      <Field
        label="Your reference"

        autoComplete="off"
        hint="Such as the number of the transfer."
        {...field("reference")}
      />
    </FormDialog>
  );
}
