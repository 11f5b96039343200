import type { RegistrationStatus, Revocation } from "#lib/pages/buyer/view-on-chain.ts";
import type {
  CheckoutStatus,
  FeeScheduleStatus,
  MandateStatus,
  OrderStatus,
  Outcome,
  ReservationStatus,
  SettlementStatus,
  SubscriptionStatus,
} from "#lib/vocabulary.ts";
import type { Stage } from "#lib/payments/stage.ts";
import type { z } from "zod";
import { Badge, type BadgeLook } from "./badge.tsx";

type Row = BadgeLook & { readonly word: string };
type Rows<S extends string> = Readonly<Record<S, Row>>;

const good = (word: string): Row => ({ tone: "positive", icon: "check", word });
const waits = (word: string): Row => ({ icon: "clock", word });
const careful = (word: string, icon: BadgeLook["icon"] = "clock"): Row => ({ tone: "caution", icon, word });
const ended = (word: string): Row => ({ icon: "cross", word });
const bad = (word: string): Row => ({ tone: "danger", icon: "cross", word });
const asks = (word: string): Row => ({ tone: "accent", icon: "info", word });

/** The statuses of webhooks are in components/webhooks/state.tsx. */
const statuses = {
  mandate: {
    draft: waits("Draft"),
    active: good("Active"),
    suspended: careful("Paused", "pause"),
    revoked: bad("Revoked"),
    expired: ended("Expired"),
    exhausted: careful("Used up", "warning"),
  } satisfies Rows<MandateStatus>,
  registration: {
    submitted: waits("On its way"),
    registered: good("Registered"),
    failed: bad("Failed"),
    requested: careful("Being revoked"),
    sent: careful("Being revoked"),
    revoked: bad("Revoked"),
  } satisfies Rows<RegistrationStatus | Exclude<Revocation, "none">>,
  outcome: {
    allow: good("Allowed"),
    deny: bad("Denied"),
    requireApproval: asks("Needs approval"),
  } satisfies Rows<Outcome>,
  settlement: {
    pending: waits("Pending"),
    processing: waits("Processing"),
    settled: good("Settled"),
    failed: bad("Failed"),
    unknown: careful("Outcome unknown"),
  } satisfies Rows<SettlementStatus>,
  reservation: {
    held: waits("Held"),
    submitted: waits("Submitted"),
    captured: good("Captured"),
    released: ended("Released"),
    expired: ended("Expired"),
  } satisfies Rows<ReservationStatus>,
  checkout: {
    previewed: waits("Previewed"),
    awaiting_approval: asks("Needs approval"),
    approved: good("Approved"),
    authorized: good("Authorized"),
    executing: waits("Executing"),
    completed: good("Completed"),
    rejected: bad("Declined"),
    expired: ended("Expired"),
    canceled: ended("Canceled"),
    failed: bad("Failed"),
    superseded: ended("Replaced"),
  } satisfies Rows<CheckoutStatus>,
  repeat: {
    otherAgentsRequest: ended("Answered with another agent’s request"),
    earlierRequest: ended("Answered with an earlier request"),
  } satisfies Rows<Extract<Stage, { of: "repeat" }>["status"]>,
  order: {
    paymentCredentialRequired: waits("Waits for the agent"),
    approvalRequired: asks("Needs approval"),
    setupRequired: careful("Needs a mandate", "warning"),
    quoteChanged: careful("Price changed", "warning"),
    denied: bad("Denied"),
    processing: waits("Processing"),
    completed: good("Completed"),
    failed: bad("Failed"),
  } satisfies Rows<z.infer<typeof OrderStatus>>,
  seller: {
    verified: { tone: "positive", icon: "shield", word: "Verified seller" },
    unverified: careful("Not verified", "warning"),
  } satisfies Rows<"verified" | "unverified">,
  resource: {
    live: good("Live"),
    unpayable: careful("Not payable yet", "warning"),
    archived: ended("Archived"),
  } satisfies Rows<"live" | "unpayable" | "archived">,
  key: { active: good("Active"), expired: ended("Expired"), revoked: bad("Revoked") } satisfies Rows<
    "active" | "expired" | "revoked"
  >,
  invitation: {
    pending: waits("Invited"),
    accepted: good("Joined"),
    expired: ended("Expired"),
    canceled: ended("Canceled"),
  } satisfies Rows<"pending" | "accepted" | "expired" | "canceled">,
  subscription: {
    trialing: good("Trial"),
    active: good("Active"),
    past_due: careful("Past due", "warning"),
    paused: careful("Paused", "pause"),
    canceled: ended("Canceled"),
    expired: ended("Expired"),
    incomplete: careful("Incomplete", "warning"),
  } satisfies Rows<z.infer<typeof SubscriptionStatus>>,
  feeSchedule: {
    active: good("Active"),
    draft: waits("Draft"),
    scheduled: waits("Scheduled"),
    superseded: ended("Replaced"),
    archived: ended("Archived"),
  } satisfies Rows<z.infer<typeof FeeScheduleStatus>>,
} as const;

type Kind = keyof typeof statuses;

export const statusWord = <K extends Kind>(of: K, status: keyof (typeof statuses)[K]): string =>
  (statuses[of][status] as Row).word;

type Props<K extends Kind> = { readonly of: K; readonly status: keyof (typeof statuses)[K] };

export function StatusBadge<K extends Kind>({ of, status }: Props<K>) {
  const { word, ...look } = statuses[of][status] as Row;
  return <Badge {...look}>{word}</Badge>;
}
