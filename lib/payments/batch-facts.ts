import type { Row } from "postgres";
import { readLocked } from "#lib/approvals/batch-store.ts";
import type { AgentRequests, Remembered } from "#lib/approvals/request-limits.ts";
import type { LockedCheckout } from "#lib/approvals/locked-checkout.ts";
import type { FeeBasis } from "#lib/billing/fees.ts";
import { toFeeBasis } from "#lib/billing/store.ts";
import { capabilitiesOfRole, membershipRoleOf } from "#lib/identity/capabilities.ts";
import { compilePolicy } from "#lib/mandates/compile-policy.ts";
import type { CompiledPolicy } from "#lib/mandates/compile-policy.ts";
import type { MandateFacts, Usage } from "#lib/mandates/facts.ts";
import type { Policy } from "#lib/mandates/policy-schema.ts";
import { atomicOf } from "#lib/money.ts";
import type { OpenApproval } from "#lib/payments/ask-person.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/compare-intent.ts";
import type { Item } from "#lib/payments/queue-item.ts";
import type { BatchRows } from "#lib/payments/batch-load.ts";
import type { Fact } from "#lib/payments/batch-statements.ts";
import { answerOf } from "#lib/holds/render-answer.ts";
import { perProcess } from "#lib/process.ts";
import type { StopOver } from "#lib/sellers/stops.ts";
import type { StoredMandateStatus } from "#lib/vocabulary.ts";

const COMPILED_MAX = 10_000;

export type PolicyEntry = { readonly version: number; readonly policy: CompiledPolicy };

/** Compiled policies by mandate. A version of a policy never changes, so an entry is valid while the mandate has that version. */
const compiled = (): Map<string, PolicyEntry> => perProcess("compiledPolicies", () => new Map());

/** A copy of the cached compiled policies of these mandates, because the cache may evict policies while the batch runs. */
export function compiledPolicies(items: readonly Item[]): Map<string, PolicyEntry> {
  const known = new Map<string, PolicyEntry>();
  for (const { mandateId } of items) {
    const entry = compiled().get(mandateId);
    if (entry) known.set(mandateId, entry);
  }
  return known;
}

/** A mandate of the batch with its current usage. */
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

/** The reply that is stored for an idempotency key. */
type SlotReply = { readonly fingerprint: string; readonly status: number; readonly body: string };

/** Everything that a batch's decisions read. Maps have ids as keys, but `stored` and `replies` have idempotency keys. */
export type BatchFacts = {
  readonly now: Date;
  readonly stored: ReadonlyMap<string, SlotReply>;
  readonly budgets: ReadonlyMap<string, Budget | Unreadable>;
  readonly sellers: ReadonlyMap<string, RegisteredSeller>;
  readonly resources: ReadonlyMap<string, RegisteredResource>;
  readonly offers: BatchRows["offers"];
  readonly atDomains: BatchRows["atDomains"];
  readonly stoppedPayees: BatchRows["stoppedPayees"];
  /** Keys of the offers that this service itself received in a domain's 402. They are read only if a decision needs them. */
  readonly seen: ReadonlySet<string>;
  /**
   * The ids of waivers that were not used yet, by refused payment. A waiver is a person's permission for one payment. They are
   * read only if a payment was refused by a rule that a person can waive.
   */
  readonly waivers: ReadonlyMap<Item, readonly string[]>;
  /** The waivers that earlier payments of the batch have used. */
  readonly usedWaivers: Set<string>;
  readonly feeBasis: FeeBasis;
  /** Locked checkouts with the facts that an approval needs. */
  readonly checkouts: ReadonlyMap<string, LockedCheckout>;
  readonly replies: ReadonlyMap<string, SlotReply>;
  /** The requests for approval of each agent, by agentKey. They are read only if a decision opens a request; null before. */
  readonly requests: Map<string, AgentRequests> | null;
  /** How people decided the same payment before. It is read together with `requests`. */
  readonly remembered: ReadonlyMap<Item, Remembered>;
  readonly mayAuthorize: (item: Item) => boolean | "paused" | null;
};

const noOffers: ReadonlySet<string> = new Set();
const noWaivers: BatchFacts["waivers"] = new Map();
const nothingRemembered: BatchFacts["remembered"] = new Map();

const text = (row: Row, name: string): string => row[name] as string;

function group(rows: readonly Row[], name: string, value: string): Map<string, Set<string>> {
  const groups = new Map<string, Set<string>>();
  for (const row of rows) {
    const key = text(row, name);
    let group = groups.get(key);
    if (!group) groups.set(key, (group = new Set()));
    group.add(text(row, value));
  }
  return groups;
}

/** The rows of one kind. They are decoded from JSON, so times and amounts are text. */
const found = ({ found }: BatchRows, what: Fact): readonly Row[] => (found.get(what) ?? []).map(({ row }) => row as Row);

const storedReply = (row: Row): SlotReply => ({
  fingerprint: text(row, "fingerprint"),
  status: row["status"] as number,
  body: text(row, "body"),
});

const openApprovalOf = (row: Row): OpenApproval => ({
  checkoutIntentId: row["checkout_intent_id"] as string | null,
  authorizationId: text(row, "authorization_id"),
  subjectId: row["subject_id"] as string | null,
});

const storedAnswer = (row: Row): SlotReply => ({
  fingerprint: text(row, "fingerprint"),
  status: 200,
  // Read only when this payment is answered: if this release cannot read the decision, only this payment fails.
  get body() {
    return answerOf({
      authorizationId: text(row, "authorization_id"),
      mandateId: text(row, "mandate_id"),
      intentId: text(row, "intent_id"),
      outcome: text(row, "outcome"),
      denialCode: row["denial_code"] as string | null,
      held: row["held"] as boolean,
      createdAt: new Date(text(row, "created_at")),
      expiresAt: new Date(text(row, "expires_at")),
      findings: text(row, "findings"),
    });
  },
});

type DecimalsOf = (chain: string, asset: string) => number;
type Policies = { readonly known: ReadonlyMap<string, PolicyEntry>; readonly read: ReadonlyMap<string, Policy> };

function policyOf(row: Row, { known, read }: Policies, decimalsOf: DecimalsOf): CompiledPolicy {
  const mandateId = text(row, "mandate_id");
  const version = row["version"] as number;
  const old = known.get(mandateId);
  if (old?.version === version) return old.policy;
  const policy = read.get(mandateId);
  if (!policy) throw new Error(`No policy ${version} of ${mandateId}.`);
  const fresh = compilePolicy(policy, decimalsOf(text(row, "chain"), text(row, "asset")));
  const cache = compiled();
  if (cache.size >= COMPILED_MAX) cache.delete(cache.keys().next().value!);
  cache.set(mandateId, { version, policy: fresh });
  return fresh;
}

function policyOrError(row: Row, policies: Policies, decimalsOf: DecimalsOf): CompiledPolicy | Error {
  try {
    return policyOf(row, policies, decimalsOf);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function bucketsOf(buckets: readonly Row[]): Usage["buckets"] {
  const byWindow: Usage["buckets"] = new Map();
  for (const bucket of buckets) {
    const usage = {
      start: new Date(text(bucket, "start")),
      liveUntil: new Date(text(bucket, "live_until")),
      spent: atomicOf(text(bucket, "spent")),
      reserved: atomicOf(text(bucket, "reserved")),
      payments: bucket["payments"] as number,
    };
    const window = byWindow.get(text(bucket, "window_key"));
    if (window) window.push(usage);
    else byWindow.set(text(bucket, "window_key"), [usage]);
  }
  return byWindow;
}

function budgetsOf(loaded: BatchRows, known: ReadonlyMap<string, PolicyEntry>, decimalsOf: DecimalsOf): BatchFacts["budgets"] {
  const policies = { known, read: new Map(loaded.policies.map((row) => [text(row, "mandate_id"), row["policy"] as Policy])) };
  const buckets = Map.groupBy(found(loaded, "bucket"), (row) => text(row, "mandate_id"));
  const intents = group(found(loaded, "intent"), "mandate_id", "name");
  const nonces = group(found(loaded, "nonce"), "mandate_id", "name");
  const paid = group(found(loaded, "paid"), "mandate_id", "name");
  const approvals = Map.groupBy(found(loaded, "approval"), (row) => text(row, "mandate_id"));
  const budgets = new Map<string, Budget | Unreadable>();
  for (const row of loaded.mandates) {
    const mandateId = text(row, "mandate_id");
    const organizationId = text(row, "organization_id");
    const policy = policyOrError(row, policies, decimalsOf);
    if (policy instanceof Error) {
      budgets.set(mandateId, { organizationId, unreadable: policy });
      continue;
    }
    budgets.set(mandateId, {
      organizationId,
      facts: {
        mandateId,
        status: text(row, "status") as StoredMandateStatus,
        version: row["version"] as number,
        policy,
        agents: row["agents"] as string[] | null,
      },
      usage: {
        spent: atomicOf(text(row, "spent")),
        reserved: atomicOf(text(row, "reserved")),
        lastHeldAt: row["last_held_at"] === null ? null : new Date(text(row, "last_held_at")),
        buckets: bucketsOf(buckets.get(mandateId) ?? []),
      },
      intentIds: intents.get(mandateId) ?? new Set(),
      nonces: nonces.get(mandateId) ?? new Set(),
      paidSellers: paid.get(mandateId) ?? new Set(),
      openApprovals: new Map((approvals.get(mandateId) ?? []).map((row) => [text(row, "name"), openApprovalOf(row)])),
    });
  }
  return budgets;
}

/**
 * Returns null if the key or session is not valid, false if it lacks the capability, and "paused" if a person paused the agent.
 * Keys and sessions were read under the shared lock against revocations, so every earlier revocation is seen.
 */
function mayAuthorize(loaded: BatchRows): BatchFacts["mayAuthorize"] {
  const keys = new Map(found(loaded, "key").map((row) => [text(row, "key_id"), row]));
  const sessions = new Map(
    found(loaded, "session").map((row) => [`${text(row, "session_id")} ${text(row, "organization_id")}`, row]),
  );
  return ({ asker, organizationId, purchase }) => {
    const needed = purchase?.capability ?? "payments:authorize";
    if (asker.kind === "key") {
      const row = keys.get(asker.keyId);
      if (!row || text(row, "organization_id") !== organizationId) return null;
      if (row["paused"] === true) return "paused";
      return (row["capabilities"] as string[]).includes(needed);
    }
    const row = sessions.get(`${asker.sessionId} ${organizationId}`);
    if (!row) return null;
    return capabilitiesOfRole(membershipRoleOf(text(row, "role"))).has(needed);
  };
}

export function factsOf(loaded: BatchRows, known: ReadonlyMap<string, PolicyEntry>, decimalsOf: DecimalsOf): BatchFacts {
  return {
    now: loaded.now,
    stored: new Map(found(loaded, "slot").map((row) => [text(row, "slot"), storedAnswer(row)])),
    budgets: budgetsOf(loaded, known, decimalsOf),
    sellers: new Map(
      found(loaded, "seller").map((row) => [
        text(row, "seller_id"),
        {
          sellerId: text(row, "seller_id"),
          organizationId: text(row, "organization_id"),
          name: text(row, "name"),
          domain: text(row, "domain"),
          verified: row["verified"] as boolean,
          stopped: row["stopped_at"] !== null,
          overDomain: row["over_domain"] as StopOver,
          minimumAssuranceLevel: text(row, "minimum_assurance_level"),
        },
      ]),
    ),
    resources: new Map(
      found(loaded, "resource").map((row) => [
        `${text(row, "seller_id")} ${text(row, "resource_id")}`,
        {
          sellerId: text(row, "seller_id"),
          resourceId: text(row, "resource_id"),
          method: text(row, "method"),
          pathTemplate: text(row, "path_template"),
          description: row["description"] as string | null,
          pricing: row["pricing"] as RegisteredResource["pricing"],
          acceptedPaymentChallengeTypes: row["accepted_payment_challenge_types"] as string[],
          minimumAssuranceLevel: text(row, "minimum_assurance_level"),
          paymentConfig: row["payment_config"] as RegisteredResource["paymentConfig"],
          overAddress: row["over_address"] as StopOver,
        },
      ]),
    ),
    offers: loaded.offers,
    atDomains: loaded.atDomains,
    stoppedPayees: loaded.stoppedPayees,
    seen: noOffers,
    waivers: noWaivers,
    usedWaivers: new Set(),
    feeBasis: toFeeBasis(found(loaded, "fees")[0]),
    checkouts: new Map(
      found(loaded, "checkout")
        .map(readLocked)
        .map((locked) => [locked.checkout.checkoutIntentId, locked]),
    ),
    replies: new Map(found(loaded, "reply").map((row) => [text(row, "slot"), storedReply(row)])),
    requests: null,
    remembered: nothingRemembered,
    mayAuthorize: mayAuthorize(loaded),
  };
}
