import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { AmountText } from "#lib/money.ts";

const organizationId = "org_01kaj4n7v8e2m0x3c9t5q6r7s0";

export const setStepUpThreshold = operation({
  id: "setStepUpThreshold",
  method: "PUT",
  path: "/api/v1/auth/organizations/{organizationId}/step-up-threshold",
  tag: "Identity",
  summary: "Set the amount above which an approval asks for a step-up",
  description:
    "Applies from the next approval on, in whole units of the payment's asset. A request without `above` removes the threshold; the other reasons to ask stay.",
  access: { sessionCapability: "members:manage" },
  body: z.strictObject({ above: AmountText.optional() }).meta({ id: "SetStepUpThreshold" }),
  response: z.object({ organizationId: z.string(), above: AmountText.optional() }).meta({ id: "StepUpThreshold" }),
  problems: ["step_up_required", "forbidden", "not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { organizationId }, body: { above: "250" }, response: { organizationId, above: "250" } },
});
