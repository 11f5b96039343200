import type { x402Client } from "@x402/core/client";
import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import type { Challenge } from "./challenge.ts";
import { CountersignError } from "./errors.ts";
import { signMpp } from "./mpp.ts";

/** A wallet that signs typed data, such as an account of viem. */
export type Wallet = {
  readonly address: `0x${string}`;
  signTypedData(typed: {
    domain: Record<string, unknown>;
    types: Record<string, unknown>;
    primaryType: string;
    message: Record<string, unknown>;
  }): Promise<`0x${string}`>;
};

async function loadX402() {
  try {
    return await Promise.all([
      import("@x402/core/client"),
      import("@x402/evm/exact/client"),
      import("@x402/evm/exact/v1/client"),
    ]);
  } catch (cause) {
    throw new CountersignError("A payment from your wallet needs two more packages: npm install @x402/core @x402/evm", { cause });
  }
}

/**
 * Sets the payment identifier, if the seller asks for one, to the authorization's id, so that seller and buyer use the same id.
 */
function identify({ extensions }: PaymentPayload, authorizationId: string): void {
  const asked = extensions?.["payment-identifier"];
  if (typeof asked === "object" && asked !== null && "info" in asked && typeof asked.info === "object")
    asked.info = { ...asked.info, id: authorizationId };
}

/** Signs the chosen offer and no other. Call this only after the service has authorized the amount of this offer. */
export async function sign(wallet: Wallet, challenge: Challenge, authorizationId?: string): Promise<string> {
  const { required, offer, version1, mpp } = challenge;
  if (mpp) return signMpp(wallet, challenge, mpp);
  const [{ x402Client: Client, x402HTTPClient }, { ExactEvmScheme }, { ExactEvmSchemeV1 }] = await loadX402();
  // The x402 client has limits of its own: known tokens, and one dollar. Here the mandate sets the limits instead.
  const client: x402Client = new Client().setSpendControls(false);
  const network = offer.network as `${string}:${string}`;
  const chosen = version1 ? { x402Version: 1, accepts: [version1] } : { ...required, accepts: [offer] };
  if (version1) client.registerV1(String(version1["network"]), new ExactEvmSchemeV1(wallet));
  else client.register(network, new ExactEvmScheme(wallet));
  const http = new x402HTTPClient(client);
  const payload = await http.createPaymentPayload(chosen as unknown as PaymentRequired);
  if (authorizationId !== undefined) identify(payload, authorizationId);
  const [credential = ""] = Object.values(http.encodePaymentSignatureHeader(payload));
  return credential;
}
