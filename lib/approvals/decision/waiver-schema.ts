/** Imports no server code, so that a browser can load it. */
import { z } from "zod";
import { Timestamp } from "#lib/time.ts";

export const Waiver = z
  .object({
    waiverId: z.string(),
    mandateId: z.string(),
    policyVersion: z
      .number()
      .int()
      .meta({ description: "The mandate's version when the waiver was made. A changed mandate ends the waiver." }),
    deniedAuthorizationId: z.string().meta({ description: "The refused payment." }),
    agentId: z.string().meta({ description: "The only agent that can use it." }),
    basketHash: z.string(),
    payTo: z.string(),
    grantedBySubjectId: z.string(),
    createdAt: Timestamp,
    expiresAt: Timestamp,
    usedByAuthorizationId: z.string().optional().meta({ description: "The payment that used it." }),
  })
  .meta({
    id: "Waiver",
    description:
      "A person's permission for one payment that the mandate refused. It is used once, by the same agent for the same payment.",
  });
export type Waiver = z.input<typeof Waiver>;
