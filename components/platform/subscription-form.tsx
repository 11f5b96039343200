"use client";

import { Field, Select } from "#components/ui/field.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import { statusWord } from "#components/ui/status-badge.tsx";
import type { SubscriptionLine } from "#lib/pages/admin/view-directory.ts";
import { ReasonField } from "./reason-field.tsx";

/** The type makes sure that no member of the union is missing. */
const namesOf = <T extends string>(all: Readonly<Record<T, true>>): readonly T[] => Object.keys(all) as T[];

const tiers = namesOf<SubscriptionLine["tier"]>({ developer: true, team: true, business: true, enterprise: true }).map(
  (tier) => [tier, tier] as const,
);
const statuses = namesOf<SubscriptionLine["status"]>({
  trialing: true,
  active: true,
  past_due: true,
  paused: true,
  canceled: true,
  expired: true,
  incomplete: true,
}).map((status) => [status, statusWord("subscription", status)] as const);

type Props = { readonly subscription?: Pick<SubscriptionLine, "organizationId" | "organizationName" | "tier" | "status"> };

export function SubscriptionForm({ subscription }: Props) {
  const { organizationId = "", tier = "developer", status = "active" } = subscription ?? {};
  const dialog = useFormDialog(() => import("./with-reason.ts").then((operations) => operations.assignSubscription), {
    defaults: { organizationId, tier, status, metadata: { reason: "" } },
    done: (saved) => `The plan is ${saved.tier} now`,
  });
  const { field } = dialog.state;
  return (
    <FormDialog
      {...dialog}
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
