import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import type { Address, Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSeller, type Seller } from "../examples/seller.ts";
import { useChain } from "../test/helpers/chain.ts";
import { stockFacilitator } from "../test/helpers/shop.ts";
import {
  delegated,
  deployContracts,
  newKey,
  prove,
  randomBytes32,
  registrationArgs,
  registryAbi,
  signRegistration,
  termsOf,
  type Contracts,
  type Terms,
} from "../test/helpers/smart-account.ts";

/* A seller with the standard @x402/express server and @x402/evm facilitator, which know nothing of mandates. */

const chain = useChain();
const payTo = newKey().address;
let contracts: Contracts;
let seller: Seller;

beforeAll(async () => {
  contracts = await deployContracts(chain());
  seller = await startSeller({
    facilitator: await stockFacilitator(chain()),
    payTo,
    prices: { "/report": "$0.25", "/dear": "$0.75" },
  });
});
afterAll(() => seller.close());

async function mandate(change: Partial<Terms> = {}) {
  const owner = await delegated(chain(), contracts.implementation);
  await chain().mint(owner.address, 10_000_000n);
  const now = Math.floor(Date.now() / 1000);
  const terms = termsOf(owner.address, now, {
    payee: payTo,
    perPaymentLimit: 500_000n,
    periodLimit: 1_000_000n,
    periodSeconds: 86_400,
    maxPaymentsPerPeriod: 2,
    ...change,
  });
  const registration = await signRegistration(contracts.registry, owner, terms);
  const args = registrationArgs(registration);
  await chain().mined(
    chain().client.writeContract({ address: contracts.registry, abi: registryAbi, functionName: "registerMandate", args }),
  );
  return { owner, mandateId: registration.mandateId };
}

type Asked = {
  readonly path?: string;
  readonly period?: bigint;
  readonly slot?: bigint;
  readonly key?: Hex;
  readonly nonce?: Hex;
};

/** Buys as an agent without a wallet does: with the seller's terms, and a proof in place of the signature. */
async function buy(from: Address, mandateId: Hex, asked: Asked = {}): Promise<Response> {
  const { path = "/report", period = 0n, slot = 0n, key = contracts.policySigner.key, nonce } = asked;
  const unpaid = await fetch(seller.url + path);
  const required = decodePaymentRequiredHeader(unpaid.headers.get("payment-required") ?? "");
  const accepted = required.accepts[0]!;
  const proof = await prove(
    key,
    { mandateId, period, slot },
    {
      from,
      to: accepted.payTo as Address,
      value: BigInt(accepted.amount),
      validAfter: 0n,
      validBefore: BigInt(Math.floor(Date.now() / 1000) + 60),
      ...(nonce && { nonce }),
    },
  );
  const { value, validAfter, validBefore, ...rest } = proof.transfer;
  const authorization = { ...rest, value: `${value}`, validAfter: `${validAfter}`, validBefore: `${validBefore}` };
  const payload = {
    x402Version: 2,
    resource: required.resource,
    accepted,
    payload: { signature: proof.signature, authorization },
  };
  return fetch(seller.url + path, { headers: { "PAYMENT-SIGNATURE": encodePaymentSignatureHeader(payload) } });
}

describe("a seller with the standard x402 library", () => {
  test("is paid by proofs that use the numbered nonces of a mandate, each once, and delivers", async () => {
    const { owner, mandateId } = await mandate();
    const before = await chain().balanceOf(payTo);
    const first = await buy(owner.address, mandateId);
    expect([first.status, await first.json()]).toEqual([200, { report: "all is well" }]);
    expect((await buy(owner.address, mandateId)).status, "the same slot").toBe(402);
    expect((await buy(owner.address, mandateId, { slot: 1n })).status).toBe(200);
    expect((await chain().balanceOf(payTo)) - before).toBe(500_000n);
  });

  test("refuses what the mandate does not allow, and no money moves", async () => {
    const { owner, mandateId } = await mandate();
    const other = await mandate({ payee: newKey().address });
    const before = await chain().balanceOf(payTo);
    const served = seller.served();
    const refused: Record<string, Promise<Response>> = {
      "above the limit of a payment": buy(owner.address, mandateId, { path: "/dear" }),
      "a slot out of range": buy(owner.address, mandateId, { slot: 2n }),
      "another period": buy(owner.address, mandateId, { period: 1n }),
      "a nonce that is no slot": buy(owner.address, mandateId, { nonce: randomBytes32() }),
      "another signer": buy(owner.address, mandateId, { key: newKey().key }),
      "another account's mandate": buy(owner.address, other.mandateId),
      "a mandate for another payee": buy(other.owner.address, other.mandateId),
    };
    for (const [what, reply] of Object.entries(refused)) expect((await reply).status, what).toBe(402);
    await chain().fund(contracts.guardian.address);
    await chain().mined(
      chain().client.writeContract({
        account: contracts.guardian,
        address: contracts.registry,
        abi: registryAbi,
        functionName: "revoke",
        args: [owner.address, mandateId],
      }),
    );
    expect((await buy(owner.address, mandateId)).status, "a revoked mandate").toBe(402);
    expect([await chain().balanceOf(payTo), seller.served()]).toEqual([before, served]);
  });
});
