import type { Hex, PrivateKeyAccount } from "viem";
import type { Address } from "viem";
import * as contract from "#lib/onchain/registry/registration-contract.ts";
import { prepareRegistration } from "#lib/onchain/registration/prepare-registration.ts";
import { registerMandate } from "#lib/onchain/registration/register-mandate.ts";
import { activeMandate, CHAIN } from "#test/mandates.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";
import { newKey } from "./smart-account.ts";

export type Prepared = contract.PreparedRegistration;
export type Body = Record<string, unknown> & { readonly chain: string; readonly nonce: string; readonly deadline: number };

/** An active mandate of 1 USDC per payment and 5 per day, paid from a new wallet of its owner. */
export async function registrable(body: Record<string, unknown> = {}) {
  const organizationId = await createOrganization("Buyer");
  const { credential } = await createPerson(organizationId);
  const wallet = newKey();
  const mandateId = await activeMandate(credential, { wallet: { chain: CHAIN, address: wallet.address }, ...body });
  return { organizationId, as: credential, wallet, mandateId, payee: newKey().address };
}
export type Registrable = Awaited<ReturnType<typeof registrable>>;

type PreparationRequest = { readonly as: Credential; readonly mandateId: string; readonly payee: Address };

/** The reply of prepareRegistration; throws if the operation refuses. */
export async function prepared({ as, mandateId, payee }: PreparationRequest, path = "proofs"): Promise<Prepared> {
  const query = `?payeeAddress=${payee}&path=${path}`;
  const { status, data, problem } = await send(contract.prepareRegistration, prepareRegistration, { as, id: mandateId, query });
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(problem)}`);
  return data;
}

type TypedData = Parameters<PrivateKeyAccount["signTypedData"]>[0];

/** Signs typed data as a browser wallet receives it: converted to JSON and back. */
export const signTyped = (signer: PrivateKeyAccount, typedData: unknown): Promise<Hex> =>
  signer.signTypedData(JSON.parse(JSON.stringify(typedData)) as TypedData);

/** The body of registerMandate, signed by the mandate's wallet. */
export async function signedBody(scene: Registrable, path = "proofs"): Promise<Body> {
  const what = await prepared(scene, path);
  return bodyOf(what, await signTyped(scene.wallet, what.typedData));
}

export const bodyOf = ({ chain, nonce, deadline, typedData }: Prepared, signature: Hex): Body => ({
  chain,
  payeeAddress: typedData.message.payee,
  nonce,
  deadline,
  signature,
});

/** The wallet's EIP-7702 authorization, as the request body contains it. */
export async function authorizationOf(signer: PrivateKeyAccount, { delegation }: Prepared, change: Record<string, unknown> = {}) {
  const { address, chainId, nonce } = { ...delegation, ...change };
  const { r, s, yParity } = await signer.signAuthorization({ address: address as Address, chainId, nonce });
  return { address, chainId, nonce, yParity, r, s };
}

export const register = (mandateId: string, body: unknown) =>
  send(contract.registerMandate, registerMandate, { id: mandateId, body });
