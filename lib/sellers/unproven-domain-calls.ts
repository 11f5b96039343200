import { countAttempt } from "#lib/http/attempts.ts";
import { Problem } from "#lib/problem.ts";

/** Anybody may register any domain, and then make this service call a site whose owner may not want that. */
type Claim = { readonly verified: boolean; readonly organizationId: string };

const CALLS_PER_MINUTE = 10;

/** Call this before the network call. @throws Problem rate_limited */
export async function countCallOf({ verified, organizationId }: Claim): Promise<void> {
  if (!verified) await countAttempt("unprovedDomain", organizationId, CALLS_PER_MINUTE);
}

/** A POST may change something at a domain whose owner did not agree. */
export function requireProvedFor(method: "GET" | "POST", { verified }: Claim): void {
  if (verified || method === "GET") return;
  throw new Problem("conflict", {
    detail:
      "A POST may change something, so it is sent only to a domain that the seller has proved. Verify the domain, then ask again.",
    nextActions: [{ type: "verify_seller", label: "Verify the seller's domain", href: "/seller/settings" }],
  });
}
