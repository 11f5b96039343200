import { z } from "zod";
import { AuditEvent, AuditVerification, exampleEvent, exampleHash } from "#lib/audit-event.ts";
import { operation } from "#lib/http/operation.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { Id } from "#lib/ids.ts";

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
  description: "Newest first, over all chains or of one. The chain of checkpoints is listed only by its name.",
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
