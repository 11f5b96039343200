import type { Hex } from "viem";
import { failing, ready, skipped, unknown, type Check } from "#lib/commerce/readiness/readiness.ts";
import type { MandateRow } from "#lib/mandates/present-mandate.ts";
import type { AssetOnChain } from "#lib/chains/chains.ts";
import { deploymentAt } from "#lib/onchain/registry/deployments.ts";
import { PATHS } from "#lib/onchain/registry/registration-terms.ts";
import { lifeAt } from "#lib/onchain/registry/periods.ts";
import { checkProof, delegatesNow } from "#lib/onchain/registry/refusals.ts";
import type { RegistrationRow } from "#lib/onchain/registry/registration-store.ts";
import { registeredPayment, registrationFor } from "#lib/execute/prove-payment.ts";
import { commonActions } from "#lib/next-actions.ts";
import { notDelegated, notRegistered, periodEnds, refusedOnChain } from "#lib/payments/executions/onchain-refusal.ts";
import { Problem } from "#lib/problem.ts";
import type { ExpectedPayment } from "#lib/x402/requirements.ts";

/** Assumed in place of the maxTimeoutSeconds in a seller's 402 response; nothing is signed here. */
const TIMEOUT_SECONDS = 300;

export type ModeFacts = {
  readonly mode: string | undefined;
  readonly mandate: MandateRow | null;
  readonly asset: AssetOnChain | undefined;
  /** If the amount is unknown, the check uses the smallest possible amount. */
  readonly amount: bigint | null | undefined;
  readonly payTo: string | undefined;
  readonly now: Date;
};

const signed: Check = ready("paymentMode", "Payments are signed by EIP-3009.");

const unsupported = (mode: string): Check => {
  const detail = `This installation does not pay by ${mode} here.`;
  return failing("paymentMode", new Problem("scheme_unsupported", { detail }));
};

/** Checks who can sign the payment: the agent's wallet, or the service for a mandate that is registered on the chain. */
export async function modeChecks(asked: ModeFacts): Promise<readonly Check[]> {
  const { mode = "", mandate, asset } = asked;
  if (!["", "eip3009", "service7702"].includes(mode)) return [unsupported(mode)];
  if (mode === "eip3009") return [signed];
  if (!mandate || !asset) return [mode === "" ? signed : unknown("paymentMode", "It depends on the mandate and its asset.")];
  if (!deploymentAt(asset.chain)) return mode === "service7702" ? [unsupported(mode)] : [signed];
  const registration = await registrationFor({ mandateId: mandate.mandateId, chain: asset.chain });
  const fits = registration !== null && provesTo(registration, asked);
  // No mode is named, and no registration lets the service sign for this payee, so the agent's wallet signs.
  if (mode === "" && !fits) return [signed];
  const deployed = ready("onchainDeployment", `The contracts of mandates are on ${asset.chain}.`);
  return [deployed, ...(await registeredChecks({ ...asked, mandate, asset }, registration))];
}

const provesTo = ({ enforcementPath, payee }: RegistrationRow, { payTo }: ModeFacts): boolean =>
  enforcementPath === PATHS.proofs && (payTo === undefined || payee === payTo);

type RefusedPayment = Parameters<typeof refusedOnChain>[1];
type ModeRequest = ModeFacts & { readonly mandate: MandateRow; readonly asset: AssetOnChain };

async function registeredChecks(asked: ModeRequest, registration: RegistrationRow | null): Promise<Check[]> {
  const { mandate, asset, payTo } = asked;
  const payment: ExpectedPayment = {
    asset,
    amount: asked.amount ?? 1n,
    payTo: (payTo ?? registration?.payee ?? `0x${"0".repeat(40)}`) as Hex,
    maxTimeoutSeconds: TIMEOUT_SECONDS,
  };
  const refused = { mandateId: mandate.mandateId, payment, ...(registration && { payer: registration.account }) };
  const mode = ready("paymentMode", "The service signs out of the registered mandate; the agent needs no key.");
  if (!registration) {
    const found = failing("onchainMandateRegistered", notRegistered(refused), "actionRequired");
    return [mode, found, skipped("walletDelegated", "It is asked about when the mandate is registered.")];
  }
  try {
    const [obstacle, delegated] = await Promise.all([
      obstacleAt(asked.now, registration, refused),
      delegatesNow(asset.chain, registration.account as Hex),
    ]);
    return [
      mode,
      obstacle === null
        ? ready("onchainMandateRegistered", "The chain accepts this payment under the registered mandate.")
        : failing("onchainMandateRegistered", obstacle, "actionRequired"),
      delegated
        ? ready("walletDelegated", "The paying account is delegated to the smart payment account.")
        : failing("walletDelegated", notDelegated(refused), "actionRequired"),
    ];
  } catch {
    const { retryLater } = commonActions;
    const silent = `${asset.chain} does not answer.`;
    return [mode, unknown("onchainMandateRegistered", silent, retryLater), unknown("walletDelegated", silent, retryLater)];
  }
}

/** Why the service would not sign the payment now; null if the chain accepts it. */
async function obstacleAt(now: Date, registration: RegistrationRow, refused: RefusedPayment): Promise<Problem | null> {
  if (registration.revocation !== "none") return refusedOnChain("Revoked", refused);
  const life = lifeAt(registration, now, TIMEOUT_SECONDS);
  if (life.kind === "notStarted") return refusedOnChain("NotStarted", refused);
  if (life.kind === "ended") return refusedOnChain("Ended", refused);
  if (life.kind === "edge") return periodEnds(refused, life.seconds);
  const refusal = await checkProof(registeredPayment(registration, refused.payment), { ...life, slot: 0 });
  return refusal === "None" ? null : refusedOnChain(refusal, refused);
}
