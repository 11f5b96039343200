import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import type { Sql } from "./oracle.ts";

/* The audit logs, with the leaves and the Merkle tree of docs/receipts computed again. */

type Event = {
  readonly chain: string;
  readonly sequence: string;
  readonly id: string;
  readonly type: string;
  readonly actor: string;
  readonly organization: string | null;
  readonly subject: string | null;
  readonly entity_type: string;
  readonly entity: string;
  readonly metadata: Record<string, unknown>;
  readonly commitments: Record<string, string> | null;
  readonly hash: string;
  readonly ms: string;
};

const readEntries = (sql: Sql) => sql<Event[]>`
  SELECT chain, sequence::text, audit_event_id AS id, type, actor_id AS actor, organization_id AS organization, subject_id AS subject,
    entity_type, entity_id AS entity, metadata, commitments, hash, floor(extract(epoch FROM created_at) * 1000)::text AS ms
  FROM audit_entries`;

type Decision = { readonly id: string; readonly outcome: string; readonly held: boolean; readonly told: Record<string, unknown> };

/** The event of a decision is its authorization. */
const readDecisions = (sql: Sql) => sql<
  (Omit<Event, "id" | "type" | "entity_type" | "entity" | "metadata" | "commitments"> & Decision)[]
>`
  SELECT organization_id AS chain, sequence::text, authorization_id AS id, outcome, held, coalesce(actor_id, subject_id) AS actor,
    organization_id AS organization, subject_id AS subject, encode(hash, 'hex') AS hash,
    floor(extract(epoch FROM created_at) * 1000)::text AS ms,
    json_build_object('amount', intent::json ->> 'amount', 'asset', asset, 'chain', chain, 'checkoutIntentId', checkout_intent_id,
      'denialCode', denial_code, 'intentId', intent_id, 'mandateId', mandate_id, 'policyVersion', policy_version,
      'requestId', request_id, 'sellerId', seller_id) AS told
  FROM authorizations`;

const TYPES: Readonly<Record<string, string>> = {
  allow: "payment.authorized",
  deny: "payment.denied",
  requireApproval: "payment.approvalRequired",
};
const present = (members: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined));

async function readEvents(sql: Sql): Promise<Event[]> {
  const decisions = (await readDecisions(sql)).map(({ id, outcome, held, told, ...event }): Event => {
    // The ids of the decision, the hold and the event are the authorization's with other prefixes.
    const rest = id.slice("aut".length);
    const metadata = present({ ...told, policyDecisionId: `pd${rest}`, reservationId: held ? `rsv${rest}` : null });
    return {
      ...event,
      id: `aud${rest}`,
      type: TYPES[outcome] ?? outcome,
      entity_type: "authorization",
      entity: id,
      metadata,
      commitments: null,
    };
  });
  return [...(await readEntries(sql)), ...decisions];
}

const sha256 = (...parts: readonly (string | Buffer)[]): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

function leafOf(event: Event): string {
  const told = present({
    actorId: event.actor,
    auditEventId: event.id,
    commitments: event.commitments,
    createdAt: new Date(Number(event.ms)).toISOString(),
    entityId: event.entity,
    entityType: event.entity_type,
    metadata: event.metadata,
    organizationId: event.organization,
    subjectId: event.subject,
    type: event.type,
  });
  return sha256("\0", canonicalize(told) ?? "").toString("hex");
}

/** The root of the tree as RFC 9162 defines it: the left subtree is the largest complete one. */
function rootOf(leaves: readonly Buffer[]): Buffer {
  if (leaves.length <= 1) return leaves[0] ?? sha256("");
  let left = 1;
  while (left * 2 < leaves.length) left *= 2;
  return sha256("\x01", rootOf(leaves.slice(0, left)), rootOf(leaves.slice(left)));
}

/** After a revocation, or between a suspension and its end, nothing may be allowed or submitted under the mandate. */
function afterClosing(events: readonly Event[]): string[] {
  const closed = new Set<string>();
  return events.flatMap(({ type, entity, metadata, id }) => {
    if (type === "mandate.revoked" || type === "mandate.suspended") closed.add(entity);
    if (type === "mandate.resumed") closed.delete(entity);
    const pays = type === "payment.authorized" || type === "payment.approvalRequired" || type === "payment.submitted";
    return pays && closed.has(String(metadata["mandateId"])) ? [`${type} under a closed mandate: ${id}`] : [];
  });
}

export async function brokenLogs(sql: Sql): Promise<string[]> {
  const heads = await sql<
    { chain: string; sequence: string; hash: string }[]
  >`SELECT chain, sequence::text, hash FROM audit_heads`;
  const logs = Map.groupBy(await readEvents(sql), ({ chain }) => chain);
  const wrong = [...logs.keys()]
    .filter((chain) => !heads.some((head) => head.chain === chain))
    .map((chain) => `no head of ${chain}`);
  for (const { chain, sequence, hash } of heads) {
    const events = (logs.get(chain) ?? []).toSorted((a, b) => Number(a.sequence) - Number(b.sequence));
    const gap = events.findIndex((event, at) => Number(event.sequence) !== at + 1);
    if (gap >= 0 || events.length !== Number(sequence))
      wrong.push(`${chain} ends at ${sequence} and has ${events.length} events (${gap})`);
    const changed = events.find((event) => leafOf(event) !== event.hash);
    if (changed) wrong.push(`a changed event of ${chain}: ${changed.sequence}`);
    if (rootOf(events.map((event) => Buffer.from(event.hash, "hex"))).toString("hex") !== hash)
      wrong.push(`another root of ${chain}`);
    wrong.push(...afterClosing(events));
  }
  return wrong;
}
