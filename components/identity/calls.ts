import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/sessions/contract.ts";

export const completeOnboarding = atAddress<typeof contract.completeOnboarding>({
  id: "completeOnboarding",
  method: "POST",
  path: "/api/v1/auth/onboarding",
});
