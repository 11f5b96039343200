import { randomBytes } from "node:crypto";
import { getAddress } from "viem";
import { clock } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { lower } from "#lib/evm.ts";
import type { Handler } from "#lib/http/operation.ts";
import { chainIdOf } from "#lib/chains/chains.ts";
import { requireSameContracts } from "#lib/onchain/registry/deployments.ts";
import { isDelegated, onChain, readAccount } from "#lib/onchain/registry/registration-chain.ts";
import type * as contract from "#lib/onchain/registry/registration-contract.ts";
import {
  alreadyRegistered,
  DEADLINE_MAX_SECONDS,
  onChainIdNow,
  requireActive,
  requireAsset,
  requireDeployment,
  requireOneToken,
  requireTerms,
  requireWallet,
} from "#lib/onchain/registry/registration-rules.ts";
import { findRegistrable, isRegistered } from "#lib/onchain/registry/registration-store.ts";
import { registrationTypedData } from "#lib/onchain/registry/registry.ts";
import { notFound } from "#lib/problem.ts";

/** Seconds until the deadline, before which the registration must be signed, sent and mined. */
const SIGNING_SECONDS = DEADLINE_MAX_SECONDS / 2;

const randomNonce = (): bigint => BigInt(`0x${randomBytes(16).toString("hex")}`);

/** Stores nothing: registerMandate gets the nonce and the deadline back with the signature, and computes the terms again. */
export const prepareRegistration: Handler<typeof contract.prepareRegistration> = async ({ id, query }, { caller }) => {
  const mandate = await findRegistrable(database(), id);
  if (mandate?.organizationId !== caller.organizationId) throw notFound("mandate");
  requireOneToken(mandate);
  const chain = query.chain ?? mandate.chain;
  const deployment = requireDeployment(chain, "/query/chain");
  const now = await clock(database());
  requireActive(mandate, now);
  const asset = requireAsset(mandate, chain, "/query/chain");
  const account = requireWallet(mandate);
  const terms = requireTerms({ mandate, asset, account, payee: lower(query.payeeAddress) }, query.path, now);
  const onChainId = onChainIdNow(mandate);
  if (await isRegistered(database(), { chain, account }, onChainId)) throw alreadyRegistered(mandate.version);
  const nonce = randomNonce();
  const { code, transactions } = await onChain(async () => {
    // The wallet signs a delegation to this contract, whose code can then do everything with the account.
    await requireSameContracts(chain);
    return readAccount(deployment, account, nonce);
  });
  const deadline = Math.floor(now.getTime() / 1_000) + SIGNING_SECONDS;
  const registering = { chain, registry: deployment.mandateRegistry, onChainId, terms, nonce, deadline: BigInt(deadline) };
  return {
    chain,
    contractAddress: deployment.mandateRegistry,
    account: getAddress(account),
    version: mandate.version,
    nonce: nonce.toString(),
    deadline,
    typedData: forWallets(registrationTypedData(registering)),
    delegation: {
      address: deployment.smartPaymentAccount,
      chainId: chainIdOf(chain),
      nonce: transactions,
      done: isDelegated(code, deployment),
    },
  };
};

const domainTypes = [
  { name: "name", type: "string" },
  { name: "version", type: "string" },
  { name: "chainId", type: "uint256" },
  { name: "verifyingContract", type: "address" },
];

/** Numbers in the message are decimal text, as JSON has no bigint. Addresses have checksums, so that people can compare them. */
function forWallets({ domain, types, primaryType, message }: ReturnType<typeof registrationTypedData>) {
  const { account, payee, token, mandateId, termsHash, ...numbers } = message;
  return {
    domain: { ...domain },
    types: { EIP712Domain: domainTypes, RegisterMandate: [...types.RegisterMandate] },
    primaryType,
    message: {
      mandateId,
      account: getAddress(account),
      payee: getAddress(payee),
      token: getAddress(token),
      perPaymentLimit: String(numbers.perPaymentLimit),
      periodLimit: String(numbers.periodLimit),
      periodSeconds: String(numbers.periodSeconds),
      start: String(numbers.start),
      end: String(numbers.end),
      maxPaymentsPerPeriod: String(numbers.maxPaymentsPerPeriod),
      enforcementPath: String(numbers.enforcementPath),
      termsHash,
      nonce: String(numbers.nonce),
      deadline: String(numbers.deadline),
    },
  };
}
