import { call } from "#lib/http/client.ts";
import { activateMandate } from "#lib/mandates/contract.ts";
import { PASSWORD } from "#test/identity.ts";
import { ageAllowance } from "#test/proofs.ts";
import type { Credential } from "#test/tenant.ts";
import { proving } from "../../scripts/proving.ts";

/** Activates a mandate as if two days ago, so that it does not count in the sum of 24 hours. */
export async function activate(id: string, as: { readonly baseUrl: string; readonly headers: Credential }): Promise<void> {
  await call(activateMandate, { id }, proving(PASSWORD, as));
  await ageAllowance(id);
}
