import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { exampleSession, Session } from "#lib/identity/session-schema.ts";
import { PlatformCapability } from "#lib/vocabulary.ts";

export const claimPlatform = operation({
  id: "claimPlatform",
  method: "POST",
  path: "/api/v1/platform/claim",
  tag: "Platform",
  summary: "Become the platform's first admin",
  description:
    "Takes the one-time code that the service printed at its first start in production. In the sandbox the first person who onboards is the admin, and nothing is left to claim.",
  access: "session",
  body: z.strictObject({ setupCode: z.string().min(1).max(64) }).meta({ id: "ClaimPlatform" }),
  response: z.object({ session: Session }).meta({ id: "ClaimedPlatform" }),
  problems: ["step_up_required", "setup_code_invalid", "already_claimed", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    body: { setupCode: "7K2M-9QXR-4V6T-8WYZ-1A3B-5CDE" },
    response: {
      session: {
        ...exampleSession,
        platformRoles: ["user" as const, "admin" as const],
        platformCapabilities: PlatformCapability.options,
      },
    },
  },
});
