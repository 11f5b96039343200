import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { registryRefusals, type Refusal } from "#lib/onchain/registry/refusals.ts";
import { refusedOnChain } from "#lib/payments/executions/onchain-refusal.ts";
import { problems } from "#lib/problem.ts";

const asset = { chain: "eip155:84532", chainId: 84_532, asset: "USDC", tokenName: "USDC", tokenVersion: "2", tokenDecimals: 6 };
const address = `0x${"12".repeat(20)}` as const;
const payment = { asset: { ...asset, tokenAddress: address }, amount: 250_000n, payTo: address, maxTimeoutSeconds: 300 };

test("the refusals have the same names and order as in the contract", async () => {
  const source = await readFile(join(import.meta.dirname, "../../../contracts/MandateRegistry.sol"), "utf8");
  const [, body = ""] = /enum Refusal \{([^}]*)\}/.exec(source) ?? [];
  expect(body.split(",").map((name) => name.trim())).toEqual(registryRefusals);
});

test.each<readonly [Exclude<Refusal, "None">, string]>([
  ["Unknown", "mandate_not_active"],
  ["Revoked", "mandate_revoked"],
  ["NotStarted", "mandate_not_yet_valid"],
  ["Ended", "mandate_expired"],
  ["OtherPath", "policy_denied"],
  ["OtherPayee", "payee_not_allowed"],
  ["OtherToken", "asset_not_allowed"],
  ["ZeroValue", "policy_denied"],
  ["OverPaymentLimit", "per_payment_limit_exceeded"],
  ["OtherPeriod", "rate_limited"],
  ["SlotOutOfRange", "count_limit_exceeded"],
  ["ExpiresAfterEnd", "mandate_expired"],
  ["PaymentUsed", "authorization_consumed"],
  ["TooManyPayments", "count_limit_exceeded"],
  ["OverPeriodLimit", "period_budget_exceeded"],
])("%s is refused as %s, with its payment", (refusal, code) => {
  const problem = refusedOnChain(refusal, { mandateId: "mdt_1", payment, payer: address });
  expect(problem.code).toBe(code);
  expect(problem.details.payment).toMatchObject({ amount: "0.25", payer: address, payTo: address });
  // OtherPeriod means that the period changed meanwhile. Of the codes of this list, only that of OtherPeriod is retryable.
  expect(problems[problem.code].retryable).toBe(refusal === "OtherPeriod");
});
