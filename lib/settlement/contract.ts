import { z } from "zod";
import { BYTES32 } from "#lib/evm.ts";
import { operation } from "#lib/http/operation.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { Id } from "#lib/ids.ts";
import { Timestamp } from "#lib/time.ts";
import { SettlementStatus } from "#lib/vocabulary.ts";
import { Why } from "#lib/audit-event.ts";

export const Settlement = z
  .object({
    settlementId: Id.meta({ description: "For a payment under a mandate, the id of its execution." }),
    createdAt: Timestamp,
    sellerId: Id.nullable(),
    resourceId: z
      .string()
      .nullable()
      .meta({ description: "The resource that was paid for; null if it is not clear which of several it was." }),
    amount: z.string().meta({ description: "In units of the asset." }),
    asset: z.string(),
    chain: z.string().meta({ description: "CAIP-2." }),
    status: SettlementStatus,
    transaction: z.string().nullable(),
    payer: z.string().nullable(),
    nonce: z.string().nullable().meta({ description: "The nonce of the credential that the payer signed." }),
    handedOver: z.boolean().meta({
      description:
        "Whether /settle has answered success, which it does only once. A seller that lost the answer can read it here.",
    }),
  })
  .meta({ id: "Settlement" });

export const listSettlements = operation({
  id: "listSettlements",
  method: "GET",
  path: "/api/v1/settlements",
  tag: "Payments",
  summary: "List the settlements for the organization, newest first",
  description:
    "For sellers: payments to the organization, with and without a mandate of the buyer. A seller that lost an answer of the facilitator finds the result by the nonce of the credential.",
  access: { capability: "payments:settle" },
  query: z.strictObject({
    ...PageQuery.shape,
    nonce: z.string().regex(BYTES32).optional(),
    status: SettlementStatus.optional(),
    sellerId: Id.optional(),
  }),
  response: pageOf(Settlement).meta({ id: "SettlementList" }),
  problems: [],
  example: {
    query: { nonce: "0x8f1d0f6c4b7a9e2d3c5b6a79880716253443526170f9e8d7c6b5a49382716050" },
    response: {
      items: [
        {
          settlementId: "stl_01kaj4n7v8e2m0x3c9t5q6r7st",
          createdAt: "2026-11-21T12:00:00.000Z",
          sellerId: "sel_01kaj4n7v8e2m0x3c9t5q6r7s9",
          resourceId: "daily-report",
          amount: "0.25",
          asset: "USDC",
          chain: "eip155:84532",
          status: "settled",
          transaction: "0x5c504ed432cb51138bcf09aa5e8a410dd4a1e204ef84bfed1be16dfba1b22060",
          payer: "0x209693bc6afc0c5328ba36faf03c514ef312287c",
          nonce: "0x8f1d0f6c4b7a9e2d3c5b6a79880716253443526170f9e8d7c6b5a49382716050",
          handedOver: true,
        },
      ],
      hasMore: false,
    },
  },
});

export const recheckExecution = operation({
  id: "recheckExecution",
  method: "POST",
  path: "/api/v1/platform/executions/{executionId}/recheck",
  tag: "Platform",
  summary: "Check an execution on the chain now",
  description:
    "Moves an execution whose outcome is not final to the front of the reconciler's queue. Only the chain decides the outcome.",
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
