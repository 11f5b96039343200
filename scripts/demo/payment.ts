import assert from "node:assert/strict";
import { decodePaymentResponseHeader } from "@x402/core/http";
import {
  authorize,
  collect,
  execute,
  intentFor,
  meet,
  type AgentOptions,
  type Execution,
} from "../../examples/without-package.ts";
import { usdcAddress } from "../../examples/chain.ts";
import { call } from "#lib/http/client.ts";
import { getMandate } from "#lib/mandates/contract.ts";
import { displayAmount, formatAmount, parseAmount } from "#lib/money.ts";
import { getPayment } from "#lib/payments/contract.ts";
import type { Parties } from "./setup.ts";
import { shopPrices, type Stage } from "./stage.ts";
import { plain, section, step, type Tell } from "./timeline.ts";

export const DECIMALS = 6;
const SETTLE_LIMIT_MS = 60_000;
const POLL_MS = 100;

export const usdc = (amount: bigint): string => displayAmount(amount, DECIMALS, "USDC");

export type Balances = { readonly agent: bigint; readonly seller: bigint };

export async function balances({ chain, agent, seller }: Stage): Promise<Balances> {
  const [agentHas, sellerHas] = await Promise.all([chain.balanceOf(agent.address), chain.balanceOf(seller.address)]);
  return { agent: agentHas, seller: sellerHas };
}

const column = (text: string): string => text.padStart(14);

export function printBalances({ agent, seller }: Stage, before: Balances, after: Balances): void {
  section("Balances on the chain");
  plain(`    ${" ".repeat(18)}${column("before")}${column("after")}${column("difference")}`);
  const rows = [
    ["agent's wallet", before.agent, after.agent],
    ["seller", before.seller, after.seller],
  ] as const;
  for (const [name, was, is] of rows) {
    const difference = `${is < was ? "-" : "+"}${usdc(is < was ? was - is : is - was)}`;
    plain(`    ${name.padEnd(18)}${column(usdc(was))}${column(usdc(is))}${column(difference)}`);
  }
  plain(`    agent's wallet    ${agent.address}`);
  plain(`    seller            ${seller.address}`);
  plain(`    test USDC         ${usdcAddress}`);
}

/** The amount of the first offer in the seller's 402, as a decimal number of tokens such as "0.25". */
export const amountOf = (terms: Awaited<ReturnType<typeof meet>>): string =>
  formatAmount(BigInt(terms.accepts[0]?.amount ?? "0"), DECIMALS);

export function tellReasons(tell: Tell, { authorization }: Awaited<ReturnType<typeof authorize>>): void {
  const { outcome, denialCode, reasons } = authorization.policyDecision;
  tell("outcome", denialCode ? `${outcome}: ${denialCode}` : outcome);
  for (const { effect, message } of reasons) if (outcome === "allow" || effect !== "allow") tell("reason", message);
}

export async function executed(work: ReturnType<typeof execute>): Promise<Execution> {
  const execution = await work;
  if ("problem" in execution) throw new Error("The execution failed.", { cause: execution.problem });
  return execution;
}

/** Requires a 200, and prints the seller's answer and the transaction in its PAYMENT-RESPONSE header. */
export async function tellAnswer(tell: Tell, response: Response): Promise<void> {
  const text = await response.text();
  const receipt = response.headers.get("payment-response") ?? response.headers.get("payment-required") ?? "";
  assert.equal(
    response.status,
    200,
    `The seller answered ${response.status} ${text} ${Buffer.from(receipt, "base64").toString()}`,
  );
  tell("answer", `${response.status} ${text}`);
  const { transaction } = decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");
  tell("receipt", transaction);
}

/** Makes one payment: a 402, a decision, a signature, a paid answer, and a transfer that the service finds on the chain. */
export async function payOnce(stage: Stage, { sellerId, buyer }: Parties, agent: AgentOptions) {
  section("The agent pays");
  const url = `http://${stage.shop}/report`;
  const terms = await step("The agent asks the seller, which answers 402", async (tell) => {
    const asked = await meet(agent, url);
    tell("seller", url);
    tell("price", `${amountOf(asked)} USDC, paid to ${asked.accepts[0]?.payTo}`);
    return asked;
  });
  const intent = intentFor({ url, sellerId, resourceId: "report", amount: amountOf(terms) });
  const answer = await step("It asks Countersign whether it may pay", async (tell) => {
    const given = await authorize(agent, intent);
    const { authorizationId, policyDecision } = given.authorization;
    assert.equal(policyDecision.outcome, "allow", "The payment within the mandate's limits is allowed.");
    tellReasons(tell, given);
    tell("payment", authorizationId);
    tell("held", policyDecision.reservationId ?? "");
    return given;
  });
  const execution = await step("It signs and sends the signature to Countersign", async (tell) => {
    const made = await executed(execute(agent, answer.authorization, terms));
    tell("execution", made.executionId);
    tell("status", `${made.settlementStatus}: the seller settles, the service watches the chain`);
    return made;
  });
  await step("It sends the signed payment to the seller", async (tell) => tellAnswer(tell, await collect(agent, url, execution)));
  await step("Countersign finds the transfer and records it", async (tell) => {
    const { settlementReference } = await settled(agent, answer.authorization.authorizationId);
    const { usage } = await buyer.ask(getMandate, { id: agent.mandateId });
    tell("status", "settled");
    tell("tx hash", settlementReference ?? "");
    for (const { window, spent, available, limit } of usage) {
      tell("budget", `${window}: ${spent} of ${limit} USDC spent, ${available} left`);
    }
  });
  return { intent, answer, price: parseAmount(shopPrices["/report"].slice(1), DECIMALS) };
}

/** Returns the execution when the service has found the transfer on the chain. Throws if it failed or took more than a minute. */
async function settled({ serviceUrl, apiKey }: AgentOptions, authorizationId: string) {
  const options = { baseUrl: serviceUrl, headers: { authorization: `Bearer ${apiKey}` } };
  for (const limit = Date.now() + SETTLE_LIMIT_MS; ; await new Promise((resolve) => setTimeout(resolve, POLL_MS))) {
    const { executions } = await call(getPayment, { authorizationId }, options);
    const [execution] = executions;
    if (execution?.settlementStatus === "settled") return execution;
    if (execution?.settlementStatus === "failed" || Date.now() > limit) {
      throw new Error("The payment did not settle.", { cause: execution });
    }
  }
}
