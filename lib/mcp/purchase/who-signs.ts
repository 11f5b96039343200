import { env } from "#lib/env.ts";
import { provingRegistration } from "#lib/execute/prove-payment.ts";
import { mandatePage } from "#lib/mandates/mandate-links.ts";
import type { SellerOffer } from "#lib/mcp/purchase/offer-of.ts";
import { sampleAsset } from "#lib/sandbox/sample-asset.ts";
import { samplePayTo } from "#lib/sandbox/test-wallet.ts";

export type Signer = "mandate" | "testWallet";

/** Null if neither the mandate's registration nor the test wallet can pay this offer. */
export async function payingSignerOf(mandateId: string, { asset, payTo }: SellerOffer): Promise<Signer | null> {
  const sample = sampleAsset();
  if (sample?.chain === asset.chain && payTo === samplePayTo()) return "testWallet";
  const registration = await provingRegistration({ mandateId, chain: asset.chain }, { asset, payTo });
  return registration && "mandate";
}

/** What a person or the agent must do before this seller can be paid. Nothing was reserved. */
export const setupFor = (mandateId: string, { asset, payTo, amount, challenge }: SellerOffer) => ({
  payTo,
  amount,
  asset: asset.asset,
  chain: asset.chain,
  options: [
    {
      type: "registerMandate",
      label: "A person must register the mandate on the chain for this payee. Then the service signs, and this call works.",
      url: mandatePage(env().BASE_URL, mandateId),
    },
    {
      type: "ownWallet",
      label:
        "If you have a wallet: call authorize_payment with challenge, payTo, amount, asset and chain; sign the challenge; call execute_payment with the signature; and send its credentialHeaders to the seller.",
    },
  ],
  challenge,
});
