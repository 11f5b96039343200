"use client";

import { useRouter } from "next/navigation";
import { useState } from "react";
import { Field, Select } from "#components/ui/field.tsx";
import { FormDialog } from "#components/ui/form-dialog.tsx";
import { useOperationForm } from "#components/ui/form.tsx";
import { statusWord } from "#components/ui/status-badge.tsx";
import { toast } from "#components/ui/toast.tsx";
import { assignSubscription } from "#lib/billing/contract.ts";
import type { SubscriptionLine } from "#lib/pages/view-directory.ts";
import { PlanTier, SubscriptionStatus } from "#lib/vocabulary.ts";
import { z } from "zod";
import { ReasonField } from "./reason-field.tsx";
import { Reason } from "./role-words.ts";

const operation = {
  ...assignSubscription,
  body: assignSubscription.body.extend({ metadata: z.strictObject({ reason: Reason }) }),
};

const tiers = PlanTier.options.map((tier) => [tier, tier] as const);
const statuses = SubscriptionStatus.options.map((status) => [status, statusWord("subscription", status)] as const);

type Props = { readonly subscription?: Pick<SubscriptionLine, "organizationId" | "organizationName" | "tier" | "status"> };

/** Assigns a plan to an organization. Requires a reason. */
export function SubscriptionForm({ subscription }: Props) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const { organizationId = "", tier = "developer", status = "active" } = subscription ?? {};
  const state = useOperationForm(operation, {
    defaults: { organizationId, tier, status, metadata: { reason: "" } },
    onDone: (saved) => {
      setOpen(false);
      toast(`The plan is ${saved.tier} now`);
      router.refresh();
    },
  });
  const { field } = state;
  return (
    <FormDialog
      trigger={
        subscription ? (
          <>
            Change<span className="sr"> the plan of {subscription.organizationName}</span>
          </>
        ) : (
          "Assign a plan"
        )
      }
      look={subscription ? { size: "small" } : { tone: "primary" }}
      title={subscription ? `Plan of ${subscription.organizationName}` : "Assign a plan"}
      description="It replaces the plan that the organization has. The period starts now and lasts a month."
      open={open}
      onOpenChange={setOpen}
      state={state}
      nothing="The plan was not changed."
      submit="Assign plan"
    >
      <Field
        label="Organization"
        required
        placeholder="org_…"
        spellCheck={false}
        readOnly={subscription !== undefined}
        {...field("organizationId")}
      />
      <Select label="Plan" options={tiers} {...field("tier")} />
      <Select label="Status" options={statuses} {...field("status")} />
      <ReasonField {...field("metadata.reason")} />
    </FormDialog>
  );
}
