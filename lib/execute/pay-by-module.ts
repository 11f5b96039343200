import type { Hex } from "viem";
import type { Tx } from "#lib/db/client.ts";
import { inFlight } from "#lib/command/idempotency.ts";
import { newId } from "#lib/ids.ts";
import { newestBlock } from "#lib/chains/client.ts";
import { requireSameContracts } from "#lib/onchain/registry/deployments.ts";
import { moduleCall, paymentIdOf } from "#lib/onchain/registry/payment-module.ts";
import { lifeAt } from "#lib/onchain/registry/periods.ts";
import { checkPayment, delegatesNow } from "#lib/onchain/registry/refusals.ts";
import { queueRelay } from "#lib/onchain/relay/queue-relay.ts";
import { takeNonceSlot } from "#lib/onchain/registry/nonce-slot-store.ts";
import { currentRegistration, type RegistrationRow } from "#lib/onchain/registry/registration-store.ts";
import { balanceOf } from "#lib/onchain/token.ts";
import { copiedColumns, type BindResult, type MandateLock, type Means } from "#lib/execute/begin-execution.ts";
import type { AuthorizationRow } from "#lib/holds/execution-store.ts";
import { openLife, registeredPayment, registrationFor, requireKept } from "#lib/execute/prove-payment.ts";
import { notDelegated, notRegistered, refusedOnChain } from "#lib/payments/executions/onchain-refusal.ts";
import { expectedPayment, searchFrom } from "#lib/payments/executions/verify-credential.ts";
import { askingChain } from "#lib/chains/asking-chain.ts";
import type { ExpectedPayment } from "#lib/x402/requirements.ts";
import { compareSigner, judgeChainFacts, type Verdict } from "#lib/x402/verify.ts";
import { refuseSmall } from "#lib/onchain/broadcast-caps.ts";

/** A payment waits at most this many seconds for its block, which must be in the period whose limit counts the payment. */
const LIFE_SECONDS = 300;
/** The request itself looks for the block first. */
const FIRST_CHECK_MS = 5_000;

/** A payment from the buyer's account by the payment module (a contract). It is checked and signed before it is stored. */
export type ModulePlan = {
  readonly authorization: AuthorizationRow;
  readonly registration: RegistrationRow;
  readonly payment: ExpectedPayment;
  readonly paymentId: Hex;
  readonly call: { readonly to: Hex; readonly data: Hex };
  readonly period: number;
  readonly validBefore: Date;
  readonly fromBlock: bigint;
  readonly funded: Verdict;
};

export const moduleMeans = ({ registration }: ModulePlan): Means => ({
  settlementMode: "smartAccount",
  facilitatorUrl: null,
  credentialHash: null,
  payer: registration.account,
});

/** Keep the signature in this process until the payment is stored: anybody who has it can make the payment. @throws Problem */
export async function prepareModulePayment(authorization: AuthorizationRow, now: Date): Promise<ModulePlan> {
  const payment = expectedPayment(authorization);
  const { mandateId, authorizationId, chain } = authorization;
  const registration = await registrationFor(authorization);
  if (!registration) throw notRegistered({ mandateId, payment });
  const refused = { mandateId, payment, payer: registration.account };
  requireKept(registration, refused);
  const account = registration.account as Hex;
  const paid = registeredPayment(registration, payment);
  const paymentId = paymentIdOf(authorizationId);
  const [, refusal, delegated, balance, newest] = await askingChain(chain, () =>
    Promise.all([
      requireSameContracts(chain),
      checkPayment(paid, paymentId),
      delegatesNow(chain, account),
      balanceOf(chain, payment.asset.tokenAddress, account),
      newestBlock(chain),
    ]),
  );
  if (refusal !== "None") throw refusedOnChain(refusal, refused);
  if (!delegated) throw notDelegated(refused);
  const { period, validBefore } = openLife(lifeAt(registration, now, LIFE_SECONDS), refused);
  return {
    authorization,
    registration,
    payment,
    paymentId,
    // The module (a contract) accepts a payment in the second of its deadline too, but validBefore excludes its second.
    call: await moduleCall(paid, paymentId, BigInt(validBefore - 1)),
    period,
    validBefore: new Date(validBefore * 1_000),
    fromBlock: searchFrom(chain, newest),
    funded: judgeChainFacts({ signatureValid: true, nonceUsed: false, balance }, payment),
  };
}

/** Takes one of the period's numbered payments and queues the transaction. @throws Problem */
export async function bindModulePayment(tx: Tx, prepared: ModulePlan, { mandate, now }: MandateLock): Promise<BindResult> {
  const { authorization, registration, payment, paymentId, call, period, validBefore, fromBlock, funded } = prepared;
  if (!funded.ok) return { ok: false, failure: funded };
  const small = refuseSmall(payment.amount, payment.asset);
  if (small) return { ok: false, failure: small };
  const signer = compareSigner(registration.account, mandate?.walletAddress ?? null);
  if (!signer.ok) return { ok: false, failure: signer };
  const current = await currentRegistration(tx, registration);
  if (current?.registrationId !== registration.registrationId || current.revocation !== "none") throw inFlight();
  const { authorizationId, organizationId, mandateId, amount, chain } = authorization;
  const slot = await takeNonceSlot(tx, { registration, authorizationId, amount, period, validBefore, nonce: paymentId });
  if (!slot) throw refusedOnChain("TooManyPayments", { mandateId, payment, payer: registration.account });
  const executionId = newId("execution");
  const relay = { chain, key: "relayer", purpose: "payMandate", entityId: executionId, ...call } as const;
  await queueRelay(tx, { ...relay, organizationId, environment: authorization.environment, mandateId });
  const { registry, onChainId } = registration;
  return {
    ok: true,
    executionId,
    state: {
      ...copiedColumns(authorization),
      settlementStatus: "processing",
      credential: { registry, onChainId },
      tokenAddress: payment.asset.tokenAddress,
      nonce: paymentId,
      validBefore,
      fromBlock,
      nextCheckAt: new Date(now.getTime() + FIRST_CHECK_MS),
    },
  };
}
