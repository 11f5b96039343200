import { encodeFunctionData, type Hex } from "viem";
import { audit, clock, transact } from "#lib/audit/transact.ts";
import { canonicalJson } from "#lib/canonical-json.ts";
import { database, type Tx } from "#lib/db/client.ts";
import { enterGate } from "#lib/command/gate-store.ts";
import { lower } from "#lib/evm.ts";
import { addressOf } from "#lib/http/address.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import { fingerprintOf } from "#lib/command/idempotency.ts";
import type { Handler } from "#lib/http/operation.ts";
import { newId } from "#lib/ids.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { requireSameContracts, type Deployment } from "#lib/onchain/registry/deployments.ts";
import {
  onChain,
  readAccount,
  requireAccepted,
  requireAuthorization,
  requireSigned,
  signsByKey,
} from "#lib/onchain/registry/registration-chain.ts";
import type { registerMandate as operation, RegisterBody } from "#lib/onchain/registry/registration-contract.ts";
import { confirmRegistration } from "#lib/onchain/registration/confirm-registrations.ts";
import {
  alreadyRegistered,
  nonceReused,
  onChainIdNow,
  requireActive,
  requireDeadline,
  requireDeployment,
  requireTerms,
  requireToken,
  termsFor,
  type Registrable,
  type RegistrableMandate,
} from "#lib/onchain/registry/registration-rules.ts";
import {
  findAsked,
  findRegistrable,
  insertRegistration,
  isNonceTaken,
  isRegistered,
  lockRegistrable,
  noteTransaction,
  type RegistrationRow,
} from "#lib/onchain/registry/registration-store.ts";
import { registrationArgs, registryAbi, type RegisterCall } from "#lib/onchain/registry/registry.ts";
import { unwrapped } from "#lib/onchain/token.ts";
import { queueRelay, relayNow } from "#lib/onchain/relay/queue-relay.ts";
import { queueRevocations } from "#lib/onchain/registration/revoke-registrations.ts";
import type { StoredAuthorization } from "#lib/onchain/tables.ts";
import { isProblem, notFound, Problem } from "#lib/problem.ts";
import { toWire } from "#lib/time.ts";

/** Attempts per minute and client address, because each can read the chain several times before its signature is checked. */
const TRIES_PER_MINUTE = 60;
/** Milliseconds that a request waits for the transaction to be sent. */
const SEND_MS = 8_000;

type RegisterRequest = {
  readonly body: RegisterBody;
  readonly fingerprint: string;
  readonly requestId: string;
  readonly mandate: RegistrableMandate;
  readonly deployment: Deployment;
};

/** Until the signature is verified, an unknown id is refused like an existing id. Nothing is sent before all checks pass. */
export const registerMandate: Handler<typeof operation> = async ({ id, body }, { request, requestId }) => {
  const deployment = requireDeployment(body.chain, "/chain");
  await countAttempt("registerMandate", addressOf(request), TRIES_PER_MINUTE);
  const mandate = await findRegistrable(database(), id);
  const fingerprint = fingerprintOf(canonicalJson({ id, body }));
  const earlier = mandate && (await findAsked(database(), id, fingerprint));
  if (earlier) return answer(earlier, deployment);
  try {
    requireDeadline(body.deadline, await clock(database()));
    const signable = mandate && signableOf(mandate, body, deployment);
    const checked = await onChain(() => checkOnChain(signable, body, deployment));
    return answer(await firstOrTwin({ body, fingerprint, requestId, mandate: checked.mandate, deployment }, checked), deployment);
  } catch (error) {
    // This request may be refused only because the same request was stored a moment earlier: return its registration.
    const twin = mandate && isProblem(error) ? await findAsked(database(), id, fingerprint) : null;
    if (twin) return answer(twin, deployment);
    throw error;
  }
};

/** The candidates are the registrations that the wallet's owner may have signed, for proofs and for the module. */
type Signable = Omit<Registrable, "payee"> & {
  readonly payee: Hex;
  readonly mandate: RegistrableMandate;
  readonly candidates: readonly RegisterCall[];
};

/** Null if the mandate has no wallet, another chain, or an asset that is not configured. */
function signableOf(mandate: RegistrableMandate, body: RegisterBody, deployment: Deployment): Signable | null {
  const asset = mandate.chain === body.chain ? assetOf(mandate.chain, mandate.asset) : null;
  if (asset === null || mandate.walletAddress === null) return null;
  const what = { mandate, asset, account: lower(mandate.walletAddress), payee: lower(body.payeeAddress) };
  const signed = { chain: mandate.chain, registry: deployment.mandateRegistry, onChainId: onChainIdNow(mandate) };
  const candidates = (["proofs", "module"] as const).flatMap((path): RegisterCall[] => {
    const derived = termsFor(what, path);
    if (!derived.ok) return [];
    return [{ ...signed, terms: derived.terms, nonce: BigInt(body.nonce), deadline: BigInt(body.deadline) }];
  });
  return { ...what, candidates };
}

/** Run this after the signature is verified, because strangers must not learn the results. */
async function requireRegistrable(what: Signable, body: RegisterBody, nonceUsed: boolean): Promise<void> {
  const { mandate, asset, account } = what;
  const now = await clock(database());
  requireActive(mandate, now);
  requireToken(body, asset);
  requireTerms(what, "proofs", now);
  const signer = { chain: mandate.chain, account };
  if (nonceUsed || (await isNonceTaken(database(), signer, BigInt(body.nonce)))) throw nonceReused();
  if (await isRegistered(database(), signer, onChainIdNow(mandate))) throw alreadyRegistered(mandate.version);
}

type ChainCheck = {
  readonly mandate: RegistrableMandate;
  readonly signed: RegisterCall;
  readonly delegation: StoredAuthorization | null;
};

/** This account is read if no wallet's signature could be valid, so that such a request reads the chain too. */
const NOBODY: Hex = "0x000000000000000000000000000000000000dead";

async function checkOnChain(signable: Signable | null, body: RegisterBody, deployment: Deployment): Promise<ChainCheck> {
  await requireSameContracts(deployment.chain);
  const { account = NOBODY, candidates = [] } = signable ?? {};
  const facts = await readAccount(deployment, account, BigInt(body.nonce));
  const signature = unwrapped(body.signature as Hex);
  const signed = await requireSigned(candidates, signature, signsByKey(facts, body.authorization, deployment));
  if (signable === null) throw new Error("A signature was accepted for an id that no mandate has.");
  await requireRegistrable(signable, body, facts.nonceUsed);
  const delegation = await requireAuthorization(body.authorization, facts, account, deployment);
  await requireAccepted(deployment.mandateRegistry, signed, signature, delegation);
  return { mandate: signable.mandate, signed, delegation };
}

class Lost extends Error {}

async function firstOrTwin(asked: RegisterRequest, checked: ChainCheck): Promise<RegistrationRow> {
  try {
    return await transact((tx) => begin(tx, asked, checked));
  } catch (error) {
    if (!(error instanceof Lost)) throw error;
    const twin = await findAsked(database(), asked.mandate.mandateId, asked.fingerprint);
    if (twin) return twin;
    const { chain, nonce, terms } = checked.signed;
    throw (await isNonceTaken(database(), { chain, account: terms.account }, nonce))
      ? nonceReused()
      : alreadyRegistered(asked.mandate.version);
  }
}

/** Enters the gate and locks the mandate: an earlier revocation is visible here, a later one finds this registration. */
async function begin(
  tx: Tx,
  { mandate, body, fingerprint, requestId, deployment }: RegisterRequest,
  { signed, delegation }: ChainCheck,
) {
  await enterGate(tx);
  const locked = await lockRegistrable(tx, mandate.mandateId);
  const now = await clock(tx);
  if (!locked) throw notFound("mandate");
  requireActive(locked, now);
  if (locked.version !== mandate.version)
    throw new Problem("conflict", { detail: "The mandate was changed meanwhile. Read what to sign again." });
  const registrationId = newId("registration");
  const { organizationId, environment, mandateId, version } = mandate;
  const { terms, onChainId, nonce, chain } = signed;
  const relayId = await queueRelay(tx, {
    organizationId,
    environment,
    mandateId,
    chain,
    key: "relayer",
    purpose: "registerMandate",
    entityId: registrationId,
    to: deployment.mandateRegistry,
    data: encodeFunctionData({
      abi: registryAbi,
      functionName: "registerMandate",
      args: registrationArgs(signed, unwrapped(body.signature as Hex)),
    }),
    ...(delegation && { authorizationList: [delegation] }),
  });
  const facts = { registrationId, registry: signed.registry, onChainId, terms, nonce, deadline: body.deadline };
  const row = await insertRegistration(tx, { ...facts, mandate, fingerprint, relayId, now });
  if (!row) throw new Lost();
  // Revoke the registrations of earlier versions, because each registered version adds a budget of its own on the chain.
  await queueRevocations(tx, mandateId, version);
  const event = {
    type: "onchain.mandateRegistrationSubmitted",
    actorId: terms.account,
    organizationId,
    entityType: "mandate",
    entityId: mandateId,
  };
  const { account, payee, enforcementPath } = terms;
  audit(
    tx,
    { ...event, metadata: { requestId, registrationId, version, chain, account, payee, enforcementPath, onChainId } },
    now,
  );
  return row;
}

/** Sends the transaction if it was not sent yet, so that the reply can contain its hash. */
async function answer(row: RegistrationRow, deployment: Deployment) {
  const txHash = row.txHash ?? (await send(row));
  return {
    txHash,
    chain: row.chain,
    contractAddress: deployment.mandateRegistry,
    action: "registerMandate" as const,
    submittedAt: toWire(row.createdAt),
  };
}

async function send({ registrationId, relayId, status, failure }: RegistrationRow): Promise<string> {
  if (status === "failed") throw refusedOnChain(failure);
  const sent = await relayNow(relayId, { timeoutMs: SEND_MS });
  if (sent === null) {
    throw new Problem("rpc_unavailable", {
      detail: "The registration is stored and will be sent. Send the same request again to learn its transaction.",
      retryAfterSeconds: 5,
    });
  }
  if ("refused" in sent) {
    await confirmRegistration(registrationId);
    throw refusedOnChain(sent.refused);
  }
  await noteTransaction(database(), registrationId, sent.hash);
  return sent.hash;
}

const refusedOnChain = (why: string | null): Problem =>
  new Problem("conflict", {
    detail: `The chain refused the registration${why === null ? "" : `: ${why}`}. Sign again with a new nonce.`,
  });
