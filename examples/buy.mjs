import { x402Client, x402HTTPClient } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { privateKeyToAccount } from "viem/accounts";

const wallet = privateKeyToAccount(`0x${process.env.AGENT_PRIVATE_KEY?.slice(2)}`);
// By default this client refuses more than one dollar and tokens that it does not know, after the budget is reserved. The mandate limits.
const client = new x402Client().setSpendControls(false).register("eip155:84532", new ExactEvmScheme(wallet));
const x402 = new x402HTTPClient(client);

async function countersign(path, body) {
  const reply = await fetch(`${process.env.COUNTERSIGN_URL}/api/v1${path}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${process.env.COUNTERSIGN_API_KEY}`, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await reply.json();
  if (!reply.ok) throw new Error(`${answer.code}: ${answer.detail}`, { cause: answer });
  return answer;
}

export async function buy({ url, mandateId, sellerId, resourceId, amount, order, attempt = 1 }) {
  const challenge = await fetch(url);
  if (challenge.status !== 402) return challenge;
  const expiresAt = new Date(Date.now() + 10 * 60_000).toISOString();
  const intent = { idempotencyKey: order, seller: { sellerId }, resource: { resourceId }, amount, asset: "USDC", expiresAt };
  const { authorizationId, policyDecision } = await countersign("/payments/authorize", { mandateId, intent });
  if (policyDecision.outcome === "deny") throw new Error(policyDecision.reasons[0].message, { cause: policyDecision });
  const payload = await x402.createPaymentPayload(x402.getPaymentRequiredResponse((name) => challenge.headers.get(name)));
  const paymentCredential = x402.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"];
  const execution = await countersign("/payments/execute", {
    authorizationId,
    idempotencyKey: `${order}-${attempt}`,
    paymentCredential,
  });
  return fetch(url, { headers: execution.credentialHeaders });
}
