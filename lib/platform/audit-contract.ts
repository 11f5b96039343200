import { z } from "zod";
import { AuditEvent, AuditVerification, exampleEvent, exampleHash } from "#lib/audit-event.ts";
import { operation } from "#lib/http/operation.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { Id } from "#lib/ids.ts";
import { Why } from "#lib/platform/user-contract.ts";

const Chain = Id.meta({
  description:
    "An organization's id, `platform`, or `checkpoints`, which says what was signed of the others. Left out: every chain.",
});

export const listPlatformAuditEvents = operation({
  id: "listPlatformAuditEvents",
  method: "GET",
  path: "/api/v1/platform/audit/events",
  tag: "Platform",
  summary: "List audit events of all organizations",
  description: "Newest first, over all chains or of one. The chain of checkpoints is listed by its name alone.",
  access: { platformCapability: "platform.audit.read" },
  query: z.strictObject({ ...PageQuery.shape, chain: Chain.optional(), entityId: Id.optional() }),
  response: pageOf(AuditEvent).meta({ id: "PlatformAuditEventList" }),
  problems: [],
  example: { query: { limit: "20", chain: "platform" }, response: { items: [exampleEvent], hasMore: false } },
});

export const verifyPlatformAudit = operation({
  id: "verifyPlatformAudit",
  method: "POST",
  path: "/api/v1/platform/audit/verify",
  tag: "Platform",
  summary: "Verify audit chains of all organizations",
  description:
    "Computes every hash again, of all chains or of one. `head` and `checkpoint` are the platform chain's, or those of the one.",
  access: { platformCapability: "platform.audit.read" },
  body: z.strictObject({ chain: Chain.optional() }).meta({ id: "VerifyPlatformAudit" }),
  response: AuditVerification.extend({
    chains: z.number().int().meta({ description: "How many chains were verified." }),
    badChain: z.string().optional().meta({ description: "Where firstBad is." }),
  }).meta({ id: "PlatformAuditVerification" }),
  problems: ["overloaded"],
  example: { body: {}, response: { valid: true, count: 1, head: exampleHash, chains: 1 } },
});

export const recheckExecution = operation({
  id: "recheckExecution",
  method: "POST",
  path: "/api/v1/platform/executions/{executionId}/recheck",
  tag: "Platform",
  summary: "Ask the network about an execution now",
  description:
    "Moves an execution whose outcome is not final to the front of the reconciler's queue. The chain decides what became of it; nobody else can.",
  access: { platformCapability: "platform.emergency.revoke" },
  body: z.strictObject({ reason: Why }).meta({ id: "RecheckExecution" }),
  response: z.object({ executionId: z.string(), status: z.literal("accepted") }).meta({ id: "RecheckedExecution" }),
  problems: ["forbidden", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { executionId: "exe_01kaj4n7v8e2m0x3c9t5q6r7sd" },
    body: { reason: "The buyer asks, ticket 77" },
    response: { executionId: "exe_01kaj4n7v8e2m0x3c9t5q6r7sd", status: "accepted" },
  },
});
