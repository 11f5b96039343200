import { challengePayTo } from "#lib/sellers/pay-to/challenge-pay-to.ts";
import * as contract from "#lib/sellers/pay-to/contract.ts";
import { newWallet } from "#test/payments.ts";
import { newSeller } from "#test/sellers.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

/* Sellers whose payee addresses are not proved yet. */

export type Owner = { readonly organizationId: string; readonly as: Credential };

export async function newOwner(): Promise<Owner> {
  const organizationId = await createOrganization("Shop");
  return { organizationId, as: (await createPerson(organizationId)).credential };
}

export const challenge = ({ as }: Owner, body: Record<string, unknown>, key?: string) =>
  send(contract.challengePayTo, challengePayTo, { as, body, ...(key !== undefined && { key }) });

/** A seller that is paid to a wallet, and the text that the wallet must sign to prove its address. */
export async function unprovenPayTo(by: Owner, wallet = newWallet()) {
  const seller = await newSeller(by.as, { payTo: wallet.address });
  const { status, data, problem } = await challenge(by, { sellerId: seller.sellerId, payTo: wallet.address });
  if (status !== 201) throw new Error(JSON.stringify(problem));
  return { seller, wallet, ...data };
}
