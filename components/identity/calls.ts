import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/sessions/contract.ts";

/* Operations that this folder calls. They are declared without their schemas, so that browsers do not load the schemas. */

export const completeOnboarding = atAddress<typeof contract.completeOnboarding>({
  id: "completeOnboarding",
  method: "POST",
  path: "/api/v1/auth/onboarding",
});
