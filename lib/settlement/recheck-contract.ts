import { z } from "zod";
import { Why } from "#lib/audit-event.ts";
import { operation } from "#lib/http/operation.ts";

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
