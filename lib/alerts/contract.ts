import { z } from "zod";
import { operation } from "#lib/http/operation.ts";

const mandateId = "mdt_01kaj4n7v8e2m0x3c9t5q6r7s4";

const Thresholds = z
  .array(z.int().min(1).max(100))
  .max(5)
  .refine((list) => new Set(list).size === list.length, "Name each threshold once.")
  .meta({ description: "In percent of each limit of the mandate. Empty for no alerts." });

export const setMandateAlerts = operation({
  id: "setMandateAlerts",
  method: "POST",
  path: "/api/v1/mandates/{id}/alerts",
  tag: "Mandates",
  summary: "Choose when people are told that a budget is nearly used",
  description:
    "Everyone who may approve is told once per budget, period and threshold, by mail and on their devices. Reserved amounts count as used. The default thresholds are 80 and 100 percent. The policy does not change.",
  access: { sessionCapability: "mandates:manage" },
  body: z.strictObject({ thresholds: Thresholds }).meta({ id: "SetMandateAlerts" }),
  response: z.object({ mandateId: z.string(), thresholds: z.array(z.int()) }).meta({ id: "MandateAlerts" }),
  problems: ["not_found", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: mandateId }, body: { thresholds: [50, 90] }, response: { mandateId, thresholds: [50, 90] } },
});
