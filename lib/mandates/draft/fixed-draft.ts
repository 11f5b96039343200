import { draftTermsOf } from "#lib/mandates/draft/draft-body.ts";
import { draftOf, type MandateDraft } from "#lib/mandates/draft/draft.ts";
import type { Change, Fix } from "#lib/mandates/draft/fix-denial.ts";
import { windowOf } from "#lib/mandates/policy/windows.ts";

type Stored = Parameters<typeof draftOf>[0];

export function fixedDraft(mandate: Stored, { policy, agents, changes }: Fix) {
  const draft = draftOf({ name: mandate.name, policy, agents: agents ?? undefined, wallet: mandate.wallet });
  return { draft, fields: changes.flatMap((change) => fieldOf(draft, change) ?? []) };
}

const entries = {
  perPayment: "perPayment",
  total: "total",
  fee: "fee.value",
  feeShare: "fee.value",
  seller: "sellers.allow",
  payTo: "payTo.allow",
  domain: "domains.allow",
  resource: "resources.allow",
  schedule: "schedule.days",
  agent: "agents",
} as const;

/** The form may list the limits in another order than the policy, so the field of a limit is found by its time window. */
function fieldOf(draft: MandateDraft, change: Change): string | undefined {
  if (change.of !== "budget" && change.of !== "count") return entries[change.of];
  const { terms, fieldOf: at } = draftTermsOf(draft);
  const { key } = windowOf(change.span);
  const list: "budgets" | "counts" = `${change.of}s`;
  const spans: readonly Parameters<typeof windowOf>[0][] = terms.policy.limits[list] ?? [];
  return at(`/policy/limits/${list}/${spans.findIndex((span) => windowOf(span).key === key)}`);
}
