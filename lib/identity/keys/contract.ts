import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { PageQuery } from "#lib/http/paging.ts";
import { Id } from "#lib/ids.ts";
import { Capability } from "#lib/vocabulary.ts";

const name = z.string().trim().min(1).max(200);

export const ServiceAccount = z
  .object({
    serviceAccountId: z.string(),
    name: z.string(),
    organizationId: z.string(),
    keyPreview: z.string().meta({ description: "Prefix, key id and the last four characters." }),
    capabilities: z.array(Capability),
    createdAt: z.string(),
    pausedAt: z
      .string()
      .optional()
      .meta({ description: "The time since which its keys can only read. Absent if it is not paused." }),
    apiKey: z.string().optional().meta({ description: "Shown once, when the key is made." }),
  })
  .meta({ id: "ServiceAccount", description: "The account of an agent or another program. Its id is the agentId." });
export type ServiceAccount = z.infer<typeof ServiceAccount>;

const example: ServiceAccount = {
  serviceAccountId: "sa_01kaj4n7v8e2m0x3c9t5q6r7s2",
  name: "Research agent",
  organizationId: "org_01kaj4n7v8e2m0x3c9t5q6r7s0",
  keyPreview: "csk_sandbox_2w7k9m4r5t6v8x0y_…c3d4",
  capabilities: ["payments:authorize", "payments:execute", "payments:read"],
  createdAt: "2026-11-21T12:00:00.000Z",
};
const withKey = { ...example, apiKey: "csk_sandbox_2w7k9m4r5t6v8x0y_<52 characters><7 characters>" };

export const createServiceAccount = operation({
  id: "createServiceAccount",
  method: "POST",
  path: "/api/v1/auth/service-accounts",
  tag: "Identity",
  summary: "Create a service account and its first API key",
  description:
    "The key is shown in this reply and never again. Without `capabilities` the account gets the usual capabilities of an agent, except those that its creator lacks; an empty list gives none. A key never has capabilities that only people may have, and never payments:* together with mandates:create. A repeat with the same idempotency key is answered with a 409 that names the account.",
  access: { sessionCapability: "serviceAccounts:manage" },
  status: 201,
  body: z
    .strictObject({ name, organizationId: Id, capabilities: z.array(Capability).max(32).optional() })
    .meta({ id: "CreateServiceAccount" }),
  response: ServiceAccount,
  problems: ["step_up_required", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  variants: [409],
  example: {
    body: { name: example.name, organizationId: example.organizationId, capabilities: example.capabilities },
    response: withKey,
  },
});

export const listServiceAccounts = operation({
  id: "listServiceAccounts",
  method: "GET",
  path: "/api/v1/auth/service-accounts",
  tag: "Identity",
  summary: "List the service accounts of the active organization that are not revoked",
  description: "The next page, if there is one, is in the Link header with rel=next.",
  access: { sessionCapability: "serviceAccounts:read" },
  query: PageQuery,
  response: z.object({ items: z.array(ServiceAccount) }).meta({ id: "ServiceAccountList" }),
  problems: [],
  example: { query: { limit: "20" }, response: { items: [example] } },
});

export const rotateServiceAccountKey = operation({
  id: "rotateServiceAccountKey",
  method: "POST",
  path: "/api/v1/auth/service-accounts/{id}/rotate",
  tag: "Identity",
  summary: "Give a service account a new API key",
  description:
    "The previous key stays valid for the grace period, which is 0 by default. At most two keys are valid: a key that is still valid from an earlier rotation ends now. A person who lacks a capability of the account cannot rotate its key, but can revoke it.",
  access: { sessionCapability: "serviceAccounts:manage" },
  body: z.strictObject({ gracePeriodSeconds: z.int().min(0).max(604_800).default(0) }).meta({ id: "RotateServiceAccountKey" }),
  response: ServiceAccount,
  problems: ["step_up_required", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: example.serviceAccountId }, body: { gracePeriodSeconds: 3600 }, response: withKey },
});

export const revokeServiceAccount = operation({
  id: "revokeServiceAccount",
  method: "POST",
  path: "/api/v1/auth/service-accounts/{id}/revoke",
  tag: "Identity",
  summary: "Revoke a service account and its keys",
  description: "After this answer no key of the account is accepted. Revoking again changes nothing.",
  access: { sessionCapability: "serviceAccounts:manage" },
  body: z.strictObject({ reason: z.string().trim().min(1).max(500).optional() }).meta({ id: "RevokeServiceAccount" }),
  response: ServiceAccount,
  problems: ["not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: example.serviceAccountId }, body: { reason: "The agent was retired." }, response: example },
});

export const pauseServiceAccount = operation({
  id: "pauseServiceAccount",
  method: "POST",
  path: "/api/v1/auth/service-accounts/{id}/pause",
  tag: "Identity",
  summary: "Pause a service account",
  description:
    "For the people who decide about its requests. After this answer its keys can only read; everything else answers agent_paused until a person resumes the account. Payments that executePayment or placeOrder submitted before go on to their end, even if the service has not sent them yet. Pausing again changes nothing.",
  access: { sessionCapability: "checkouts:approve" },
  body: z.strictObject({}).meta({ id: "PauseServiceAccount" }),
  response: ServiceAccount,
  problems: ["not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { id: example.serviceAccountId },
    body: {},
    response: { ...example, pausedAt: "2026-11-21T14:00:00.000Z" },
  },
});

export const resumeServiceAccount = operation({
  id: "resumeServiceAccount",
  method: "POST",
  path: "/api/v1/auth/service-accounts/{id}/resume",
  tag: "Identity",
  summary: "Resume a paused service account",
  description: "Its keys have their earlier capabilities again. Resuming an account that is not paused changes nothing.",
  access: { sessionCapability: "checkouts:approve" },
  body: z.strictObject({}).meta({ id: "ResumeServiceAccount" }),
  response: ServiceAccount,
  problems: ["step_up_required", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: example.serviceAccountId }, body: {}, response: example },
});
