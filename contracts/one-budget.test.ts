import fc from "fast-check";
import { encodeFunctionData, parseAbiItem, toHex, type Abi, type Address, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import { multicallAddress, usdcAddress, useChain } from "../test/helpers/chain.ts";
import {
  MODULE,
  PROOFS,
  deployContracts,
  moduleAbi,
  newKey,
  paymentArgs,
  prove,
  randomNonce,
  registrationArgs,
  registryAbi,
  signPayment,
  signRegistration,
  signRevocation,
  transferArgs,
  type Contracts,
  type Terms,
} from "../test/helpers/smart-account.ts";
import { RUN_MS } from "#test/run-time.ts";
import multicall from "./artifacts/TestMulticall.json";
import usdc from "./artifacts/TestUSDC.json";

/*
 * Sends random sequences of registrations, payments by proof, payments by the payment module, revocations and waiting times
 * between blocks, in real transactions with many calls per block. In every sequence, the sum that is paid under a mandate in a
 * period must stay within the period's limit.
 */

const STEPS = 10_000;
const RUNS = 5;
const chain = useChain();
const usdcAbi = usdc.abi as Abi;

const step = fc.record({
  act: fc.constantFrom("proof", "proof", "proof", "module", "module", "module", "register", "revoke"),
  mandate: fc.nat(5),
  /** Amounts below and above the limit per payment, which is 100. */
  value: fc.nat(130),
  slot: fc.nat(5),
  /** The number of periods between the current period and the period that a proof names. */
  late: fc.constantFrom(0, 0, 0, 0, 1, -1),
  again: fc.boolean(),
  /**
   * If set, the block ends with this step, and its time is this many seconds plus one after the previous block. Null if the
   * block continues.
   */
  wait: fc.oneof({ arbitrary: fc.constant(null), weight: 15 }, { arbitrary: fc.nat(40), weight: 1 }),
});
type Step = {
  readonly act: "proof" | "module" | "register" | "revoke";
  readonly mandate: number;
  readonly value: number;
  readonly slot: number;
  readonly late: number;
  readonly again: boolean;
  readonly wait: number | null;
};

const GAS = 400_000n;
const CALLS_MAX = 40;
const LIMIT = 320;
const transfer = parseAbiItem("event Transfer(address indexed from, address indexed to, uint256 value)");
const multicallAbi = multicall.abi as Abi;

type Mandate = { readonly mandateId: Hex; readonly terms: Terms; paymentId: number };
type Call = { readonly target: Address; readonly callData: Hex; readonly allowFailure: true };

/** A new account, with functions that collect its calls, send the collected calls in one block, and add up what it paid. */
async function world(contracts: Contracts) {
  const { client } = chain();
  const owner = newKey();
  await client.setCode({ address: owner.address, bytecode: `0xef0100${contracts.implementation.slice(2)}` });
  await chain().mint(owner.address, 10n ** 12n);
  const begun = await client.getBlock();
  let now = Number(begun.timestamp);
  const mandates: Mandate[] = [];
  const all: Mandate[] = [];
  let calls: Call[] = [];
  let serial = 0;
  let last: Hex | undefined;

  /** Signs a registration with the account's key, as a wallet does. */
  async function register(at: number, path: number): Promise<Hex> {
    const terms: Terms = {
      account: owner.address,
      payee: newKey().address,
      token: usdcAddress,
      perPaymentLimit: 100n,
      periodLimit: BigInt(LIMIT),
      periodSeconds: 60 + (at % 3) * 20,
      start: now - 30,
      end: now + 3_000,
      maxPaymentsPerPeriod: 3,
      enforcementPath: path,
      termsHash: toHex(serial++, { size: 32 }),
    };
    const registration = await signRegistration(contracts.registry, owner, terms);
    mandates[at] = { mandateId: registration.mandateId, terms, paymentId: 0 };
    all.push(mandates[at]);
    return encodeFunctionData({ abi: registryAbi, functionName: "registerMandate", args: registrationArgs(registration) });
  }

  async function callOf({ act, mandate: at, value, slot, late, again }: Step): Promise<{ to: Address; data: Hex } | null> {
    const mandate = mandates[at];
    if (act === "register" || !mandate) {
      // If `again` is true, a new mandate replaces an existing one, so that new periods with unused limits begin.
      if (mandate && !again) return null;
      return { to: contracts.registry, data: await register(at, at % 2 === 0 ? PROOFS : MODULE) };
    }
    const { mandateId, terms } = mandate;
    if (act === "revoke") {
      if (slot > 0) return null;
      const nonce = randomNonce();
      const signature = await signRevocation(contracts.registry, owner, mandateId, nonce);
      const args = [owner.address, mandateId, nonce, 2n ** 40n, signature];
      return {
        to: contracts.registry,
        data: encodeFunctionData({ abi: registryAbi, functionName: "revokeWithSignature", args }),
      };
    }
    if (act === "proof") {
      const period = BigInt(Math.max(0, Math.floor((now + 1 - terms.start) / terms.periodSeconds) + late));
      const made = await prove(
        contracts.policySigner.key,
        { mandateId, period, slot: BigInt(slot) },
        { from: owner.address, to: terms.payee, value: BigInt(value), validAfter: 0n, validBefore: BigInt(terms.end) },
      );
      const args = transferArgs(made.transfer, made.signature);
      return { to: usdcAddress, data: encodeFunctionData({ abi: usdcAbi, functionName: "transferWithAuthorization", args }) };
    }
    if (!again) mandate.paymentId += 1;
    const payment = {
      account: owner.address,
      mandateId,
      paymentId: toHex(mandate.paymentId, { size: 32 }),
      token: usdcAddress,
      payee: terms.payee,
      value: BigInt(value),
      deadline: 2n ** 40n,
    };
    const args = paymentArgs(payment, await signPayment(contracts.paymentModule, contracts.policySigner, payment));
    return { to: contracts.paymentModule, data: encodeFunctionData({ abi: moduleAbi, functionName: "pay", args }) };
  }

  async function block(wait: number): Promise<void> {
    now += 1 + wait;
    await client.setNextBlockTimestamp({ timestamp: BigInt(now) });
    const args = [calls];
    const gas = 100_000n + BigInt(calls.length) * GAS;
    calls = [];
    // The node mines the block when it accepts the transaction, so the time of the next block can be set at once.
    last = await client.writeContract({ address: multicallAddress, abi: multicallAbi, functionName: "aggregate3", args, gas });
  }

  async function take(one: Step): Promise<void> {
    const call = await callOf(one);
    if (call) calls.push({ target: call.to, callData: call.data, allowFailure: true });
    if (one.wait !== null || calls.length >= CALLS_MAX) await block(one.wait ?? 0);
  }

  /**
   * Returns the sum that was paid per mandate and period, and the number of payments on each path. The time of a transfer's
   * block decides to which period the transfer belongs.
   */
  async function spent(): Promise<{ sums: Map<string, bigint>; paid: Map<number, number> }> {
    const sums = new Map<string, bigint>();
    const paid = new Map<number, number>();
    const times = new Map<bigint, number>();
    if (last) await client.waitForTransactionReceipt({ hash: last, timeout: RUN_MS });
    const logs = await client.getLogs({
      address: usdcAddress,
      event: transfer,
      args: { from: owner.address },
      fromBlock: begun.number,
    });
    for (const { args, blockNumber } of logs) {
      if (!times.has(blockNumber)) times.set(blockNumber, Number((await client.getBlock({ blockNumber })).timestamp));
      const { mandateId, terms } = all.find((mandate) => mandate.terms.payee === args.to)!;
      const key = `${mandateId} ${Math.floor((times.get(blockNumber)! - terms.start) / terms.periodSeconds)}`;
      sums.set(key, (sums.get(key) ?? 0n) + args.value!);
      paid.set(terms.enforcementPath, (paid.get(terms.enforcementPath) ?? 0) + 1);
    }
    return { sums, paid };
  }

  return { take, block, spent };
}

describe("a mandate has one budget", () => {
  test(`${STEPS} random steps by both paths never exceed a period's limit`, async () => {
    const contracts = await deployContracts(chain());
    let steps = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: STEPS / RUNS, maxLength: STEPS / RUNS }), async (sequence) => {
        const { take, block, spent } = await world(contracts);
        for (const one of sequence) await take(one);
        await block(0);
        steps += sequence.length;
        const { sums, paid } = await spent();
        expect(Math.max(...[...sums.values()].map(Number))).toBeLessThanOrEqual(LIMIT);
        // Enough payments must have succeeded on each path. Otherwise the test would show nothing.
        for (const path of [PROOFS, MODULE]) expect(paid.get(path) ?? 0, `path ${path}`).toBeGreaterThan(STEPS / RUNS / 100);
      }),
      { numRuns: RUNS, endOnFailure: true },
    );
    expect(steps).toBe(STEPS);
  });
});
