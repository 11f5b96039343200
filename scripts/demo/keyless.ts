import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Address } from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { authorize, collect, execute, intentFor, meet, type AgentOptions } from "../../examples/without-package.ts";
import { call } from "#lib/http/client.ts";
import { prepareRegistration, registerMandate } from "#lib/onchain/registry/registration-contract.ts";
import { parseAmount } from "#lib/money.ts";
import { amountOf, DECIMALS, executed, tellAnswer, usdc } from "./payment.ts";
import type { Person } from "./person.ts";
import { writeMandate, type Parties } from "./setup.ts";
import type { Stage } from "./stage.ts";
import { section, step, type Tell } from "./timeline.ts";

const MINTED = 10_000_000n;
const CONFIRM_LIMIT_MS = 60_000;
const POLL_MS = 200;

type Account = Pick<PrivateKeyAccount, "address" | "signTypedData" | "signAuthorization">;
type TypedData = Parameters<PrivateKeyAccount["signTypedData"]>[0];

/**
 * Registers the mandate on the chain. The wallet of Ada, the buyer, signs twice and pays no gas: one transaction of the service
 * delegates her account by EIP-7702 and registers the mandate.
 */
async function register(tell: Tell, { service, seller }: Stage, { ask }: Person, account: Account, mandateId: string) {
  const asked = await ask(prepareRegistration, { id: mandateId, query: { payeeAddress: seller.address } });
  const { message } = asked.typedData;
  tell("signs", `at most ${usdc(BigInt(message.periodLimit))} in ${Number(message.periodSeconds) / 3_600} hours, to this seller`);
  const signature = await account.signTypedData(asked.typedData as unknown as TypedData);
  const { address, chainId, nonce } = asked.delegation;
  const { r, s, yParity } = await account.signAuthorization({ address: address as Address, chainId, nonce });
  const body = {
    chain: asked.chain,
    payeeAddress: message.payee,
    nonce: asked.nonce,
    deadline: asked.deadline,
    signature,
    authorization: { address, chainId, nonce, yParity: yParity === 1 ? (1 as const) : (0 as const), r, s },
  };
  // No session is needed, because the wallet's signature proves who asks.
  const { txHash } = await call(registerMandate, { id: mandateId, body }, { baseUrl: service.url });
  tell("tx hash", txHash);
}

/**
 * Repeats executePayment, for at most a minute, until the service has seen the registration on the chain. Before that, the
 * service asks for a signature and stores nothing.
 */
async function executedWhenRegistered(
  agent: AgentOptions,
  authorization: Parameters<typeof execute>[1],
  terms: Parameters<typeof execute>[2],
) {
  for (const until = Date.now() + CONFIRM_LIMIT_MS; ; await pause(POLL_MS)) {
    const tried = await execute(agent, authorization, terms);
    if (!("problem" in tried) || tried.problem["code"] !== "credential_missing" || Date.now() > until) {
      return executed(Promise.resolve(tried));
    }
  }
}

/**
 * Shows an agent that has no wallet key. The buyer's account accepts the service's signature only within the limits of the
 * mandate. Returns that mandate.
 */
export async function payWithoutKey(stage: Stage, parties: Parties): Promise<{ readonly mandateId: string }> {
  const { chain, seller, service } = stage;
  section("An agent without a wallet key");
  const account = privateKeyToAccount(generatePrivateKey());
  const mandate = await step("Ada writes a mandate for her own account", async (tell) => {
    await chain.mint(account.address, MINTED);
    tell("account", account.address);
    return writeMandate(parties.buyer, parties.agentId, account.address, "allow");
  });
  await step("Her wallet signs its limits, and they are registered on the chain", (tell) =>
    register(tell, stage, parties.buyer, account, mandate.mandateId),
  );
  await step("The agent pays a standard seller without a wallet", async (tell) => {
    const agent: AgentOptions = { serviceUrl: service.url, apiKey: parties.apiKey, mandateId: mandate.mandateId };
    const url = `http://${stage.shop}/report`;
    const terms = await meet(agent, url);
    const amount = amountOf(terms);
    const before = await chain.balanceOf(seller.address);
    const { sellerId } = parties;
    const { authorization } = await authorize(agent, intentFor({ url, sellerId, resourceId: "report", amount }, terms));
    assert.equal(authorization.policyDecision.outcome, "allow");
    const execution = await executedWhenRegistered(agent, authorization, terms);
    tell("mode", "service7702: the service signed, within the limits of the mandate");
    await tellAnswer(tell, await collect(agent, url, execution));
    const price = parseAmount(amount, DECIMALS);
    assert.equal((await chain.balanceOf(seller.address)) - before, price, "The seller got the price.");
    assert.equal(MINTED - (await chain.balanceOf(account.address)), price, "Ada's account paid the price.");
    tell("gained", `${usdc(price)}, the price, paid by Ada's account`);
  });
  return mandate;
}
