import { x402Client, x402HTTPClient } from "@x402/core/client";
import type { Network } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { database } from "#lib/db/client.ts";
import { lower } from "#lib/evm.ts";
import { findAuthorization } from "#lib/holds/execution-store.ts";
import type { Handler } from "#lib/http/operation.ts";
import { acceptedOffer } from "#lib/payments/unregistered-offer.ts";
import { notFound, Problem } from "#lib/problem.ts";
import type { signSamplePayment as operation } from "#lib/sandbox/contract.ts";
import { sampleAsset } from "#lib/sandbox/sample-asset.ts";
import { samplePayTo, testWallet } from "#lib/sandbox/test-wallet.ts";
import { paymentSignatureHeader } from "#lib/x402/requirements.ts";

const refused = (detail: string): Problem => new Problem("forbidden", { detail });

/** Signs as an agent with a wallet does, and pays nothing: the agent sends the signed payment with executePayment. */
export const signSamplePayment: Handler<typeof operation> = async ({ body: { authorizationId } }, { caller }) => {
  const row = await findAuthorization(database(), caller, authorizationId);
  if (!row) throw notFound("payment");
  if (row.subjectId !== caller.subjectId) throw refused("The test wallet signs only the payments that you authorized.");
  const asset = sampleAsset();
  if (!asset) throw notFound("test wallet");
  const payTo = samplePayTo();
  if (row.payTo === null || lower(row.payTo) !== payTo || row.chain !== asset.chain)
    throw refused("The test wallet signs only payments to the sample sellers.");
  const offer = acceptedOffer(row.intent.challenge, { asset, amount: row.amount, payTo });
  if (!offer) throw notFound("challenge of this payment");
  const network = asset.chain as Network;
  // The client refuses payments above one dollar by default. Here the amount is already authorized.
  const client = new x402HTTPClient(new x402Client().setSpendControls(false).register(network, new ExactEvmScheme(testWallet())));
  const payload = await client.createPaymentPayload({ ...offer.required, accepts: [offer.accepted] });
  return { paymentCredential: client.encodePaymentSignatureHeader(payload)[paymentSignatureHeader] ?? "" };
};
