import type { Row } from "postgres";
import { idempotency } from "#lib/command/tables.ts";
import { readerOf } from "#lib/db/rows.ts";
import { authorizations } from "#lib/holds/tables.ts";
import type { apiKeys, member, serviceAccounts } from "#lib/identity/tables.ts";
import { mandates, mandateVersions, usageBuckets } from "#lib/mandates/tables.ts";
import { waivers } from "#lib/approvals/tables.ts";
import type { BatchRows } from "#lib/payments/batch/load.ts";
import type { RegisteredResource, RegisteredSeller } from "#lib/payments/offers/compare-intent.ts";
import type { StopOver } from "#lib/sellers/stops.ts";
import { resources, sellers } from "#lib/sellers/tables.ts";

type Name = { readonly mandate_id: string; readonly name: string };
type Members = {
  readonly intent: Name;
  readonly nonce: Name;
  readonly paid: Name;
  readonly approval: Name & {
    readonly checkout_intent_id: string | null;
    readonly authorization_id: string;
    readonly subject_id: string | null;
  };
  readonly key: {
    readonly key_id: (typeof apiKeys.$inferSelect)["keyId"];
    readonly organization_id: string;
    readonly capabilities: (typeof serviceAccounts.$inferSelect)["capabilities"];
    readonly paused: boolean;
    /** `role` is that of the person who allowed the OAuth client: null if they are banned or no member, and for API keys. */
    readonly by_token: boolean;
    readonly role: (typeof member.$inferSelect)["role"] | null;
  };
  readonly session: {
    readonly session_id: string;
    readonly organization_id: string;
    readonly role: (typeof member.$inferSelect)["role"];
  };
};

/** The rows of one kind that are not rows of a table. statements.ts selects their fields. */
export const members = <K extends keyof Members>({ found }: BatchRows, what: K): readonly Members[K][] =>
  (found.get(what) ?? []).map(({ row }) => row as Members[K]);

const reading =
  <T>(what: "slot" | "reply" | "bucket" | "seller" | "resource", read: (row: Row) => T) =>
  ({ found }: BatchRows): readonly T[] =>
    (found.get(what) ?? []).map(({ row }) => read(row as Row));

export const answersOf = reading(
  "slot",
  readerOf(authorizations, [
    "slot",
    "fingerprint",
    "authorizationId",
    "mandateId",
    "intentId",
    "outcome",
    "denialCode",
    "held",
    "createdAt",
    "expiresAt",
    "findings",
  ]),
);

export const repliesOf = reading("reply", readerOf(idempotency, ["slot", "fingerprint", "status", "body"]));

export const bucketsOf = reading(
  "bucket",
  readerOf(usageBuckets, ["mandateId", "windowKey", "start", "liveUntil", "spent", "reserved", "payments"]),
);

export const readWaiver = readerOf(waivers, [
  "waiverId",
  "mandateId",
  "policyVersion",
  "subjectId",
  "basketHash",
  "charged",
  "payTo",
]);
export type OpenWaiver = ReturnType<typeof readWaiver>;

const readMandate = readerOf(mandates, [
  "mandateId",
  "organizationId",
  "status",
  "version",
  "asset",
  "chain",
  "agents",
  "spent",
  "reserved",
  "lastHeldAt",
]);

export const mandatesOf = ({ mandates: rows }: BatchRows) => rows.map(readMandate);
export type LockedMandate = ReturnType<typeof readMandate>;

const readPolicy = readerOf(mandateVersions, ["mandateId", "policy"]);
export const policiesOf = ({ policies: rows }: BatchRows) => rows.map(readPolicy);

const readSeller = readerOf(sellers, [
  "sellerId",
  "organizationId",
  "name",
  "domain",
  "verified",
  "stoppedAt",
  "minimumAssuranceLevel",
]);

export const sellersOf = reading("seller", (row): RegisteredSeller => {
  const { stoppedAt, ...seller } = readSeller(row);
  return { ...seller, stopped: stoppedAt !== null, overDomain: row["over_domain"] as StopOver };
});

const readResource = readerOf(resources, [
  "sellerId",
  "resourceId",
  "method",
  "pathTemplate",
  "description",
  "pricing",
  "acceptedPaymentChallengeTypes",
  "minimumAssuranceLevel",
  "paymentConfig",
]);

export const resourcesOf = reading("resource", (row): RegisteredResource => {
  const { paymentConfig, ...resource } = readResource(row);
  // The statement leaves out resources that cannot be paid yet.
  if (!paymentConfig) throw new Error(`The resource ${resource.resourceId} has no payment configuration.`);
  return { ...resource, paymentConfig, overAddress: row["over_address"] as StopOver };
});
