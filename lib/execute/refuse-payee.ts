import type { Database, Tx } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { ownPayee, provenAmong, provenElsewhere, type PaidAt } from "#lib/sellers/pay-to-store.ts";
import { failed, type Failure } from "#lib/x402/failure.ts";

const unprovenPayee = (payTo: string): Failure =>
  failed(
    "recipient_mismatch",
    `The seller has not proven that it controls ${payTo}, so this service does not settle payments to it. The seller proves it with challengePayTo and provePayTo.`,
  );

const foreignPayee = (payTo: string): Failure =>
  failed(
    "recipient_mismatch",
    `Another organization has proved that it controls ${payTo}, so payments to it are made only for that organization. If the address is yours, prove it with challengePayTo and provePayTo.`,
  );

/**
 * Anybody can register an address as their own, so production requires a proof, and a sandbox at least that nobody else has one:
 * otherwise a stranger could settle a payment before its real payee does. Null if the organization may settle payments to it.
 */
export async function refusePayee(db: Database | Tx, organizationId: string, paid: PaidAt): Promise<Failure | null> {
  const { sells, proven } = await ownPayee(db, organizationId, paid);
  if (!sells) return failed("recipient_mismatch", "No resource of this organization is paid to this address.");
  if (proven) return null;
  if (env().ENVIRONMENT !== "sandbox") return unprovenPayee(paid.payTo);
  const isForeign = await provenElsewhere(db, organizationId, paid.payTo.toLowerCase(), paid.chain);
  return isForeign ? foreignPayee(paid.payTo) : null;
}

type Payment = { readonly sellerOrganizationId: string | null; readonly payTo: string | null; readonly chain: string };

/**
 * A signed payment is bound to one mandate, so nobody but the address's owner may bind it for an address that was proved. Null if
 * the payment may be made, and for a payment without a registered seller or without an address.
 */
export async function refuseUnproven(
  tx: Tx,
  { sellerOrganizationId, payTo, chain }: Payment,
  weSettle: boolean,
): Promise<Failure | null> {
  if (sellerOrganizationId === null || payTo === null) return null;
  const isProven = await provenAmong(tx, sellerOrganizationId, [{ payTo, chain }]);
  if (isProven({ payTo, chain })) return null;
  if (weSettle && env().ENVIRONMENT !== "sandbox") return unprovenPayee(payTo);
  return (await provenElsewhere(tx, sellerOrganizationId, payTo.toLowerCase(), chain)) ? foreignPayee(payTo) : null;
}
