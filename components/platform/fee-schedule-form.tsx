"use client";

import { Field, Select } from "#components/ui/field.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import type { CheckedFormState, Values } from "#components/ui/form.tsx";
import type { FeeSchedule } from "#lib/billing/billing-schema.ts";
import { ReasonField } from "./reason-field.tsx";
import type { saveFeeSchedule } from "./with-reason.ts";

const payers = [
  ["buyer", "The buyer"],
  ["seller", "The seller"],
  ["split", "Half each"],
] as const;
const tiers = [
  ["", "Any plan"],
  ["developer", "Developer"],
  ["team", "Team"],
  ["business", "Business"],
  ["enterprise", "Enterprise"],
] as const;
const statuses = [
  ["active", "Active"],
  ["draft", "Draft"],
  ["scheduled", "Scheduled"],
  ["archived", "Archived"],
] as const;

const numbers = { setValueAs: (value: unknown) => (value === "" ? undefined : Number(value)) };

/** Leaves out what the service sets, and the metadata with the reason of the last change. */
function defaultsOf(schedule: FeeSchedule | null) {
  if (!schedule) return { name: "", percentageBps: 0, flatAmount: "0", feePayer: "buyer", status: "active" } as const;
  const { createdAt: _, updatedAt: __, metadata: ___, ...terms } = schedule;
  return terms;
}

const Terms = ({ field }: Pick<CheckedFormState<Values<typeof saveFeeSchedule>>, "field">) => (
  <div className="grid gap-5 sm:grid-cols-2">
    <Field label="Name" required {...field("name")} />
    <Select label="Status" options={statuses} {...field("status")} />
    <Field
      label="Share of the payment"
      suffix="bps"
      inputMode="numeric"
      {...field("percentageBps", numbers)}
      hint="Hundredths of a percent: 25 is 0.25 %."
    />
    <Field label="Asset" {...field("asset")} hint="Needed with amounts, such as USDC." />
    <Field label="Flat amount" inputMode="decimal" {...field("flatAmount")} />
    <Field label="At least" inputMode="decimal" {...field("minimumFeeAmount")} />
    <Field label="At most" inputMode="decimal" {...field("maximumFeeAmount")} />
    <Field
      label="Free volume a month"
      inputMode="numeric"
      {...field("includedMonthlyVolume", numbers)}
      hint="Whole units of the asset."
    />
    <Select label="Who pays it" options={payers} {...field("feePayer")} />
    <Select label="Plan of the buyer" options={tiers} {...field("planTier")} />
    <Field label="Only this buyer" placeholder="org_…" spellCheck={false} {...field("buyerOrganizationId")} />
    <Field label="Only this seller" placeholder="org_…" spellCheck={false} {...field("sellerOrganizationId")} />
  </div>
);

export function FeeScheduleForm({ schedule = null }: { readonly schedule?: FeeSchedule | null }) {
  const dialog = useFormDialog(() => import("./with-reason.ts").then((operations) => operations.saveFeeSchedule), {
    defaults: { ...defaultsOf(schedule), metadata: { reason: "" } },
    done: (saved) => `${saved.name} saved`,
  });
  const { field } = dialog.state;
  return (
    <FormDialog
      {...dialog}
      wide
      trigger={
        schedule ? (
          <>
            Change<span className="sr"> {schedule.name}</span>
          </>
        ) : (
          "New fee schedule"
        )
      }
      look={schedule ? { size: "small" } : { tone: "primary" }}
      title={schedule ? `Change ${schedule.name}` : "New fee schedule"}
      description="It applies to payments authorized from now on. Payments that are already authorized keep their quote."
      nothing="Nothing was saved."
      submit="Save schedule"
    >
      <Terms field={field} />
      <ReasonField {...field("metadata.reason")} />
    </FormDialog>
  );
}
