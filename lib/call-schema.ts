import { z } from "zod";

export const Call = z
  .object({
    method: z.enum(["GET", "POST"]),
    path: z.string(),
    body: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: "Call", description: "A request to this service. Send it unchanged, with the same credential." });
export type Call = z.output<typeof Call>;
