import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { AskedIntent, Reason } from "#lib/payment-intent.ts";
import { DenialCode, Outcome } from "#lib/vocabulary.ts";
import {
  Agents,
  ChangedMandate,
  exampleMandate,
  examplePolicy,
  LedgerEntry,
  Mandate,
  MandateName,
  MandateMetadata,
  Remaining,
  Wallet,
} from "#lib/mandates/mandate-schema.ts";
import { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { Timestamp } from "#lib/time.ts";

const { mandateId } = exampleMandate;
const draft = { ...exampleMandate, status: "draft" as const };

/** The reason is written to the audit log for people; it does not affect decisions. */
const Because = z
  .strictObject({ reason: z.string().trim().min(1).max(500).optional() })
  .meta({ id: "MandateStep", description: "The reason, for the audit log." });

export const createMandate = operation({
  id: "createMandate",
  method: "POST",
  path: "/api/v1/mandates",
  tag: "Mandates",
  summary: "Create a draft of a mandate",
  description: "Creates a draft. Nothing can be paid under it until a person activates it.",
  access: { capability: "mandates:create" },
  status: 201,
  body: z
    .strictObject({
      name: MandateName,
      policy: Policy,
      agents: Agents.optional(),
      wallet: Wallet.nullable().optional(),
      metadata: MandateMetadata.optional(),
    })
    .meta({ id: "CreateMandate" }),
  response: Mandate,
  problems: ["idempotency_in_flight", "idempotency_key_reused"],
  example: {
    body: { name: "Research agent", policy: examplePolicy, agents: exampleMandate.agents },
    response: { ...draft, usage: [] },
  },
});

export const listMandates = operation({
  id: "listMandates",
  method: "GET",
  path: "/api/v1/mandates",
  tag: "Mandates",
  summary: "List the organization's mandates",
  access: { capability: "mandates:read" },
  query: PageQuery,
  response: pageOf(Mandate).meta({ id: "MandateList" }),
  problems: [],
  example: { query: { limit: "20" }, response: { items: [exampleMandate], hasMore: false } },
});

export const getMandate = operation({
  id: "getMandate",
  method: "GET",
  path: "/api/v1/mandates/{id}",
  tag: "Mandates",
  summary: "Read a mandate and its usage",
  access: { capability: "mandates:read" },
  response: Mandate,
  problems: ["not_found"],
  example: { params: { id: mandateId }, response: exampleMandate },
});

export const getRemaining = operation({
  id: "getRemaining",
  method: "GET",
  path: "/api/v1/mandates/{id}/remaining",
  tag: "Mandates",
  summary: "Read what remains of a mandate's limits",
  description:
    "For agents that plan: each limit with what is used, what remains and when it resets, the token that the mandate pays in, and when a person is asked. A payment within every limit can still be denied by another rule: authorizePayment decides.",
  access: { capability: "mandates:read" },
  response: Remaining,
  problems: ["not_found"],
  example: {
    params: { id: mandateId },
    response: {
      mandateId,
      status: "active",
      asset: {
        asset: "USDC",
        chain: "eip155:84532",
        tokenAddress: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
        tokenName: "USDC",
        tokenVersion: "2",
        tokenDecimals: 6,
      },
      limits: [
        { pointer: "/limits/perPayment", unit: "USDC", limit: "1", used: "0", remaining: "1" },
        {
          pointer: "/limits/budgets/0",
          window: "day Europe/Berlin",
          unit: "USDC",
          limit: "5",
          used: "1.5",
          remaining: "3.5",
          resetsAt: "2026-11-21T23:00:00.000Z",
        },
      ],
      approval: { mode: "never" },
      stepUp: { above: "100", aboveUnverified: "25" },
      at: "2026-11-21T12:00:00.000Z",
    },
  },
});

export const updateMandate = operation({
  id: "updateMandate",
  method: "PATCH",
  path: "/api/v1/mandates/{id}",
  tag: "Mandates",
  summary: "Change a mandate",
  description:
    "Every change makes a new version, which later decisions name. The usage of budgets does not change: no budget starts again. The asset never changes, nor does the unit. null removes the agents or the wallet. The new version also applies to earlier authorizations when they are executed and settled: their payee, resource and agent are checked again; their reserved amounts are not. The reply names the open payments that the new version refuses, and cancelOpen cancels those that are not submitted. cancelOpen without another change makes no new version.",
  access: { sessionCapability: "mandates:manage" },
  body: z
    .strictObject({
      name: MandateName.optional(),
      policy: Policy.optional(),
      agents: Agents.nullable().optional(),
      wallet: Wallet.nullable().optional(),
      cancelOpen: z
        .boolean()
        .optional()
        .meta({ description: "Cancel the open payments that the mandate, as it is after this change, refuses." }),
    })
    .refine(
      ({ cancelOpen, ...changes }) => cancelOpen === true || Object.keys(changes).length > 0,
      "Name at least one field to change.",
    )
    .meta({ id: "UpdateMandate" }),
  response: ChangedMandate,
  problems: ["step_up_required", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: mandateId }, body: { name: "Research agent" }, response: { ...exampleMandate, version: 2 } },
});

export const activateMandate = operation({
  id: "activateMandate",
  method: "POST",
  path: "/api/v1/mandates/{id}/activate",
  tag: "Mandates",
  summary: "Activate a draft",
  access: { sessionCapability: "mandates:manage" },
  response: Mandate,
  problems: ["step_up_required", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: mandateId }, response: exampleMandate },
});

export const resumeMandate = operation({
  id: "resumeMandate",
  method: "POST",
  path: "/api/v1/mandates/{id}/resume",
  tag: "Mandates",
  summary: "Resume a suspended mandate",
  access: { sessionCapability: "mandates:manage" },
  response: Mandate,
  problems: ["step_up_required", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: mandateId }, response: exampleMandate },
});

export const suspendMandate = operation({
  id: "suspendMandate",
  method: "POST",
  path: "/api/v1/mandates/{id}/suspend",
  tag: "Mandates",
  summary: "Suspend a mandate",
  description: "After this answer nothing new is authorized or submitted under the mandate. A person can resume it.",
  access: { capability: "mandates:revoke" },
  body: Because,
  response: Mandate,
  problems: ["not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { id: mandateId },
    body: { reason: "The agent is being updated." },
    response: { ...exampleMandate, status: "suspended" },
  },
});

export const revokeMandate = operation({
  id: "revokeMandate",
  method: "POST",
  path: "/api/v1/mandates/{id}/revoke",
  tag: "Mandates",
  summary: "Revoke a mandate permanently",
  description:
    "After this answer nothing new is authorized or submitted under the mandate. Payments that were submitted before are followed to their end.",
  access: { capability: "mandates:revoke" },
  body: Because,
  response: Mandate,
  problems: ["not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { id: mandateId },
    body: { reason: "The key leaked." },
    response: { ...exampleMandate, status: "revoked" },
  },
});

const Simulated = z
  .object({ outcome: Outcome, denialCode: DenialCode.optional(), reasons: z.array(Reason) })
  .meta({ id: "SimulatedDecision" });

const Compared = z
  .object({
    policyDecisionId: z.string(),
    authorizationId: z.string(),
    domain: z.string().optional().meta({ description: "The payee, as far as it is known." }),
    amount: z.string(),
    asset: z.string(),
    decidedAt: Timestamp,
    was: Outcome,
    wouldBe: Outcome,
    reasons: z.array(Reason),
  })
  .meta({ id: "ComparedDecision", description: "An earlier decision, and what it would be under another policy." });

export const simulateMandate = operation({
  id: "simulateMandate",
  method: "POST",
  path: "/api/v1/mandates/{id}/simulate",
  tag: "Mandates",
  summary: "Ask what a mandate would decide",
  description:
    "With an intent: how the mandate would decide about it now. With a policy: how the mandate's last decisions would change under it, with budgets used as if it had been in force. No amount is reserved and no decision is stored. If the decision depends on what a seller's domain asks for, the service calls the domain and stores the offer that it saw, as authorizePayment does.",
  access: { capability: "mandates:read" },
  body: z
    .union([z.strictObject({ intent: AskedIntent }), z.strictObject({ policy: Policy, last: z.int().min(1).max(200) })])
    .meta({ id: "SimulateMandate" }),
  response: z.union([z.object({ decision: Simulated }), z.object({ items: z.array(Compared) })]).meta({ id: "Simulation" }),
  problems: ["not_found"],
  example: {
    params: { id: mandateId },
    body: { policy: examplePolicy, last: 20 },
    response: {
      items: [
        {
          policyDecisionId: "pd_01kaj4n7v8e2m0x3c9t5q6r7sb",
          authorizationId: "aut_01kaj4n7v8e2m0x3c9t5q6r7sa",
          domain: "data.example.com",
          amount: "0.25",
          asset: "USDC",
          decidedAt: "2026-11-21T12:00:00.000Z",
          was: "deny",
          wouldBe: "allow",
          reasons: [],
        },
      ],
    },
  },
});

export const listMandateLedger = operation({
  id: "listMandateLedger",
  method: "GET",
  path: "/api/v1/mandates/{id}/ledger",
  tag: "Mandates",
  summary: "List the amounts that were held, captured and released",
  access: { capability: "mandates:read" },
  query: PageQuery,
  response: pageOf(LedgerEntry).meta({ id: "LedgerList" }),
  problems: ["not_found"],
  example: {
    params: { id: mandateId },
    query: { limit: "20" },
    response: {
      items: [
        {
          ledgerId: "led_01kaj4n7v8e2m0x3c9t5q6r7sd",
          mandateId,
          kind: "hold",
          amount: "0.25",
          asset: "USDC",
          authorizationId: "aut_01kaj4n7v8e2m0x3c9t5q6r7sa",
          reservationId: "rsv_01kaj4n7v8e2m0x3c9t5q6r7sc",
          createdAt: "2026-11-21T12:00:00.000Z",
        },
      ],
      hasMore: false,
    },
  },
});
