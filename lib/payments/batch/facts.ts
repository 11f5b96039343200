import type { Row } from "postgres";
import { readLocked } from "#lib/approvals/decision/batch-store.ts";
import type { AgentRequests, Remembered } from "#lib/approvals/request-limits.ts";
import type { LockedCheckout } from "#lib/approvals/decision/locked-checkout.ts";
import type { FeeBasis } from "#lib/billing/fees.ts";
import { toFeeBasis } from "#lib/billing/store.ts";
import { capabilitiesOfRole, membershipRoleOf } from "#lib/identity/capabilities.ts";
import { compilePolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { CompiledPolicy } from "#lib/mandates/policy/compile-policy.ts";
import type { MandateFacts, Usage } from "#lib/mandates/policy/facts.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import type { OpenApproval } from "#lib/payments/batch/ask-person.ts";
import { mayPay } from "#lib/payments/batch/by-card.ts";
import type { KnownReference } from "#lib/payments/batch/made-elsewhere.ts";
import type { Prepared } from "#lib/payments/batch/judge-item.ts";
import {
  answersOf,
  bucketsOf,
  mandatesOf,
  members,
  policiesOf,
  repliesOf,
  resourcesOf,
  sellersOf,
  type OpenWaiver,
  type LockedMandate,
} from "#lib/payments/batch/read.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/offers/compare-intent.ts";
import { capabilityFor, type Item } from "#lib/payments/queue-item.ts";
import type { BatchRows } from "#lib/payments/batch/load.ts";
import { answerOf } from "#lib/holds/render-answer.ts";
import { perProcess } from "#lib/process.ts";
import type { StoredMandateStatus } from "#lib/vocabulary.ts";

const COMPILED_MAX = 10_000;

export type PolicyEntry = { readonly version: number; readonly policy: CompiledPolicy };

/** Compiled policies by mandate. A version of a policy never changes, so an entry is valid while the mandate has that version. */
const compiled = (): Map<string, PolicyEntry> => perProcess("payments/batch/facts", () => new Map());

/** A copy, because the cache may evict policies while the batch runs. */
export function compiledPolicies(items: readonly Item[]): Map<string, PolicyEntry> {
  const known = new Map<string, PolicyEntry>();
  for (const { mandateId } of items) {
    const entry = compiled().get(mandateId);
    if (entry) known.set(mandateId, entry);
  }
  return known;
}

export type Budget = {
  readonly organizationId: string;
  readonly facts: MandateFacts;
  readonly usage: Usage;
  readonly intentIds: Set<string>;
  readonly nonces: Set<string>;
  readonly paidSellers: Set<string>;
  /** Payments that wait for a person, by approval key. */
  readonly openApprovals: Map<string, OpenApproval>;
};

/** A mandate whose policy this release cannot read. Only the requests under this mandate fail. */
type Unreadable = { readonly organizationId: string; readonly unreadable: Error };

type SlotReply = { readonly fingerprint: string; readonly status: number; readonly body: string };

/** The facts for the decisions of a batch. The maps `stored` and `replies` have idempotency slots as keys. */
export type BatchFacts = {
  readonly now: Date;
  readonly stored: ReadonlyMap<string, SlotReply>;
  readonly budgets: ReadonlyMap<string, Budget | Unreadable>;
  readonly sellers: ReadonlyMap<string, RegisteredSeller>;
  readonly resources: ReadonlyMap<string, RegisteredResource>;
  readonly offers: BatchRows["offers"];
  readonly atDomains: BatchRows["atDomains"];
  readonly stoppedPayees: BatchRows["stoppedPayees"];
  /** The keys (keyOf) of offers in a domain's own 402 that this service received in the last day; read only if needed. */
  readonly seen: ReadonlySet<string>;
  /** Unused waivers (permissions for one payment) of the mandates that deny a payment by a rule that can be waived. */
  readonly waivers: ReadonlyMap<string, readonly OpenWaiver[]>;
  /** The waivers that earlier payments of the batch have used. */
  readonly usedWaivers: Set<string>;
  readonly feeBasis: FeeBasis;
  readonly checkouts: ReadonlyMap<string, LockedCheckout>;
  readonly replies: ReadonlyMap<string, SlotReply>;
  /** What the payments that must be decided ask for; see withPrepared. */
  readonly prepared: Map<Item, Prepared>;
  /** The counts of requests for approval by agentKey, for the agents of payments that may open one. */
  readonly requests: Map<string, AgentRequests>;
  /** The payments that may open a request and that people lately declined, or whose requests they left unanswered. */
  readonly remembered: ReadonlyMap<Item, Remembered>;
  /** The authorizations of the references that payments made elsewhere name; see made-elsewhere.ts. */
  readonly references: Map<string, KnownReference>;
  readonly mayAuthorize: (item: Item) => boolean | "paused" | null;
};

function namesOf(rows: readonly { readonly mandate_id: string; readonly name: string }[]): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  for (const { mandate_id: mandateId, name } of rows) {
    let group = groups.get(mandateId);
    if (!group) groups.set(mandateId, (group = new Set()));
    group.add(name);
  }
  return groups;
}

const openApprovalOf = (row: ReturnType<typeof members<"approval">>[number]): OpenApproval => ({
  checkoutIntentId: row.checkout_intent_id,
  authorizationId: row.authorization_id,
  subjectId: row.subject_id,
});

const storedAnswer = (row: ReturnType<typeof answersOf>[number]): SlotReply => ({
  fingerprint: row.fingerprint,
  status: 200,
  // Read only when this payment is answered: if this release cannot read the decision, only this payment fails.
  get body() {
    return answerOf(row);
  },
});

type DecimalsOf = (chain: string, asset: string) => number;
type Policies = { readonly known: ReadonlyMap<string, PolicyEntry>; readonly read: ReadonlyMap<string, Policy> };

function policyOf(row: LockedMandate, { known, read }: Policies, decimalsOf: DecimalsOf): CompiledPolicy {
  const { mandateId, version } = row;
  const old = known.get(mandateId);
  if (old?.version === version) return old.policy;
  const policy = read.get(mandateId);
  if (!policy) throw new Error(`No policy ${version} of ${mandateId}.`);
  const fresh = compilePolicy(policy, decimalsOf(row.chain, row.asset));
  const cache = compiled();
  if (cache.size >= COMPILED_MAX) cache.delete(cache.keys().next().value!);
  cache.set(mandateId, { version, policy: fresh });
  return fresh;
}

function policyOrError(row: LockedMandate, policies: Policies, decimalsOf: DecimalsOf): CompiledPolicy | Error {
  try {
    return policyOf(row, policies, decimalsOf);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function budgetsOf(loaded: BatchRows, known: ReadonlyMap<string, PolicyEntry>, decimalsOf: DecimalsOf): BatchFacts["budgets"] {
  const policies = { known, read: new Map(policiesOf(loaded).map(({ mandateId, policy }) => [mandateId, policy])) };
  const buckets = Map.groupBy(bucketsOf(loaded), ({ mandateId }) => mandateId);
  const intents = namesOf(members(loaded, "intent"));
  const nonces = namesOf(members(loaded, "nonce"));
  const paid = namesOf(members(loaded, "paid"));
  const approvals = Map.groupBy(members(loaded, "approval"), (row) => row.mandate_id);
  const budgets = new Map<string, Budget | Unreadable>();
  for (const row of mandatesOf(loaded)) {
    const { mandateId, organizationId } = row;
    const policy = policyOrError(row, policies, decimalsOf);
    if (policy instanceof Error) {
      budgets.set(mandateId, { organizationId, unreadable: policy });
      continue;
    }
    budgets.set(mandateId, {
      organizationId,
      facts: {
        mandateId,
        status: row.status as StoredMandateStatus,
        version: row.version,
        policy,
        agents: row.agents,
      },
      usage: {
        spent: row.spent,
        reserved: row.reserved,
        lastHeldAt: row.lastHeldAt,
        buckets: Map.groupBy(buckets.get(mandateId) ?? [], ({ windowKey }) => windowKey),
      },
      intentIds: intents.get(mandateId) ?? new Set(),
      nonces: nonces.get(mandateId) ?? new Set(),
      paidSellers: paid.get(mandateId) ?? new Set(),
      openApprovals: new Map((approvals.get(mandateId) ?? []).map((row) => [row.name, openApprovalOf(row)])),
    });
  }
  return budgets;
}

/** Null for an invalid key or session. A batch reads both while it holds the gate, so it sees every earlier revocation. */
function mayAuthorize(loaded: BatchRows): BatchFacts["mayAuthorize"] {
  const cards = new Map(loaded.cards.map((row) => [`${row["connection_id"]} ${row["card_id"]}`, row]));
  const keys = new Map(members(loaded, "key").map((row) => [row.key_id, row]));
  const sessions = new Map(members(loaded, "session").map((row) => [`${row.session_id} ${row.organization_id}`, row]));
  return (item) => {
    const { asker, organizationId } = item;
    const needed = capabilityFor(item);
    if (asker.kind === "key") {
      const row = keys.get(asker.keyId);
      if (!row || row.organization_id !== organizationId || (row.by_token && row.role === null)) return null;
      if (row.paused) return "paused";
      const byPerson = row.role === null || capabilitiesOfRole(membershipRoleOf(row.role)).has(needed);
      return byPerson && row.capabilities.includes(needed);
    }
    if (asker.kind === "card") return mayPay(cards.get(`${asker.connectionId} ${asker.cardId}`), item);
    const row = sessions.get(`${asker.sessionId} ${organizationId}`);
    if (!row) return null;
    return capabilitiesOfRole(membershipRoleOf(row.role)).has(needed);
  };
}

export function factsOf(loaded: BatchRows, known: ReadonlyMap<string, PolicyEntry>, decimalsOf: DecimalsOf): BatchFacts {
  return {
    now: loaded.now,
    stored: new Map(answersOf(loaded).map((row) => [row.slot, storedAnswer(row)])),
    budgets: budgetsOf(loaded, known, decimalsOf),
    sellers: new Map(sellersOf(loaded).map((seller) => [seller.sellerId, seller])),
    resources: new Map(resourcesOf(loaded).map((resource) => [`${resource.sellerId} ${resource.resourceId}`, resource])),
    offers: loaded.offers,
    atDomains: loaded.atDomains,
    stoppedPayees: loaded.stoppedPayees,
    seen: new Set(),
    waivers: new Map(),
    usedWaivers: new Set(),
    feeBasis: toFeeBasis(loaded.found.get("fees")?.[0]?.["row"] as Row | undefined),
    checkouts: new Map(
      (loaded.found.get("checkout") ?? [])
        .map(({ row }) => readLocked(row as Row))
        .map((locked) => [locked.checkout.checkoutIntentId, locked]),
    ),
    replies: new Map(repliesOf(loaded).map(({ slot, ...reply }) => [slot, reply])),
    prepared: new Map(),
    requests: new Map(),
    remembered: new Map(),
    references: new Map(),
    mayAuthorize: mayAuthorize(loaded),
  };
}
