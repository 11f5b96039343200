import { setTimeout as pause } from "node:timers/promises";
import { eq, sql } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { database } from "#lib/db/client.ts";
import { metrics } from "#lib/telemetry/metrics.ts";
import { senderOf } from "#lib/onchain/keys.ts";
import { relayRow } from "#lib/onchain/relay-row.ts";
import { relay } from "#lib/onchain/relay/relay-worker.ts";
import { relayNow, relayOutcome } from "#lib/onchain/relay/queue-relay.ts";
import { openBySender } from "#lib/onchain/relay-store.ts";
import { senders, watchSenders } from "#lib/onchain/senders.ts";
import { relayedTransactions } from "#lib/onchain/tables.ts";
import { viewHealth } from "#lib/pages/admin/view-health.ts";
import { forget } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";
import { useSettlement } from "#test/payments.ts";
import { useContracts } from "#test/registered.ts";
import {
  age,
  anotherRelayer,
  configureChain,
  expireLeases,
  fundSenders,
  makeDue,
  nodeInBetween,
  queue,
  queued,
  relayRowOf,
  signedRegistration,
  silentNode,
} from "#test/relays.ts";
import { newKey, registryAbi } from "#test/smart-account.ts";

const databaseOf = useDatabase();
const chainOfTest = useSettlement();
const contractsOfTest = useContracts(chainOfTest);
const scene = () => ({ chain: chainOfTest(), contracts: contractsOfTest() });

beforeAll(() => fundSenders(chainOfTest()));

const timeoutMs = 5_000;
const nonceOf = (blockTag: "latest" | "pending" = "latest") =>
  scene().chain.client.getTransactionCount({ address: senderOf("relayer").address, blockTag });
const hashOf = async (relayId: string) => {
  const relayed = await relayNow(relayId, { timeoutMs });
  if (!relayed || !("hash" in relayed)) throw new Error(`Not sent: ${JSON.stringify(relayed)}`);
  return relayed.hash;
};
const outcome = (relayId: string) => relayOutcome(database(), relayId);

async function worked(relayId: string) {
  await makeDue();
  await relay();
  return relayRowOf(relayId);
}

const open = async () =>
  (
    await database()
      .select()
      .from(relayedTransactions)
      .where(sql`status IN ('queued', 'sent')`)
  ).length;

/** Stops automatic mining until the test ends, so that only the test mines blocks. */
async function withoutMining(): Promise<void> {
  await scene().chain.client.setAutomine(false);
  onTestFinished(() => scene().chain.client.setAutomine(true));
}

function configure(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  forget("env");
  onTestFinished(() => {
    vi.unstubAllEnvs();
    forget("env");
  });
}

beforeEach(async () => {
  await database().delete(relayedTransactions);
});

describe("sending transactions", () => {
  test("sends at once, and records the mined transaction with its gas", async () => {
    const { contracts, chain } = scene();
    const { request, terms, onChainId } = await signedRegistration(contracts);
    const relayId = await queue(request);
    expect(await queue(request)).toBe(relayId);
    const hash = await hashOf(relayId);
    expect(await outcome(relayId)).toMatchObject({ status: "sent", hash });
    expect(await worked(relayId)).toMatchObject({ status: "mined", hash, rawTransaction: null, failure: null });
    const { gasUsed, gasLimit } = await relayRowOf(relayId);
    expect(gasUsed! > 150_000n && gasUsed! < gasLimit!).toBe(true);
    const args = [terms.account, onChainId] as const;
    const stored = await chain.client.readContract({
      address: contracts.registry,
      abi: registryAbi,
      functionName: "termsOf",
      args,
    });
    expect(stored).toMatchObject({ account: terms.account });
  });

  test("delegates the account and registers its mandate in one transaction", async () => {
    const { contracts, chain } = scene();
    const { request, owner } = await signedRegistration(contracts);
    const signed = await owner.signAuthorization({ address: contracts.implementation, chainId: 84_532, nonce: 0 });
    const { address, chainId, nonce, yParity = 0, r, s } = signed;
    const relayId = await queue({ ...request, authorizationList: [{ address, chainId, nonce, yParity, r, s }] });
    await hashOf(relayId);
    expect((await worked(relayId)).status).toBe("mined");
    const code = await chain.client.getCode({ address: owner.address });
    expect(code).toBe(`0xef0100${contracts.implementation.slice(2).toLowerCase()}`);
  });

  test("a call that would be reverted is never sent, and its refusal is named", async () => {
    const before = await nonceOf("pending");
    const relayId = await queued(scene().contracts, { deadline: 1n });
    expect(await relayNow(relayId, { timeoutMs })).toEqual({ refused: "The call would be reverted: DeadlinePassed." });
    expect(await outcome(relayId)).toMatchObject({ status: "abandoned", hash: null });
    expect(await nonceOf("pending")).toBe(before);
  });

  test("a call that needs more gas than its purpose may cost is never sent", async () => {
    const before = await nonceOf("pending");
    const relayId = await queued(scene().contracts);
    await database().update(relayedTransactions).set({ gasCap: 100_000n });
    expect(await relayNow(relayId, { timeoutMs })).toEqual({
      refused: expect.stringMatching(/needs 2[0-9]{5} gas, more than 100000/),
    });
    expect(await nonceOf("pending")).toBe(before);
  });

  test("calls only the service's contracts, and delegates accounts only to the service's contract", async () => {
    const { request } = await signedRegistration(scene().contracts);
    const other = newKey().address;
    const authorization = { address: other, chainId: 84_532, nonce: 0, yParity: 0, r: "0x1", s: "0x1" } as const;
    for (const change of [{ to: other }, { key: "guardian" as const }, { authorizationList: [authorization] }]) {
      await expect(queue({ ...request, ...change })).rejects.toThrow("is not one of those that are relayed");
    }
    const relayId = await queue(request);
    configureChain({ contracts: { mandateRegistry: other } });
    expect(await relayNow(relayId, { timeoutMs })).toEqual({ refused: "The configuration names another contract." });
  });

  test("limits the open transactions of one organization", async () => {
    const { request } = await signedRegistration(scene().contracts);
    const waiting = Array.from({ length: 50 }, (_, count) => relayRow(`rly_${count}`, { ...request, entityId: `reg_${count}` }));
    await database().insert(relayedTransactions).values(waiting);
    await expect(queue(request)).rejects.toThrow(/Too many transactions/);
    await queue({ ...request, organizationId: "org_other" });
    configure({ SETTLEMENT_DAILY_CAP: "1" });
    const { request: another } = await signedRegistration(scene().contracts);
    await expect(queue({ ...another, organizationId: "org_other" })).rejects.toThrow(/used up for today/);
  });

  test("no transaction is lost while the chain does not answer", async () => {
    const { contracts, chain } = scene();
    configureChain({ rpcUrl: "http://127.0.0.1:9" });
    const relayId = await queued(contracts);
    expect(await relayNow(relayId, { timeoutMs })).toBeNull();
    expect(await worked(relayId)).toMatchObject({ status: "queued", nonce: null, failure: "The chain does not answer." });
    configureChain({ rpcUrl: chain.rpcUrl });
    expect((await worked(relayId)).status).toBe("sent");
    expect((await worked(relayId)).status).toBe("mined");
  });

  test("a node that does not answer delays callers no longer than their timeout", async () => {
    const node = await silentNode();
    configureChain({ rpcUrl: node.rpcUrl });
    const relayId = await queued(scene().contracts);
    expect(await relayNow(relayId, { timeoutMs: 50 })).toBeNull();
    node.close();
    configureChain({ rpcUrl: scene().chain.rpcUrl });
    expect(await hashOf(relayId)).toMatch(/^0x/);
  });

  test("without gas it waits and sets the metric for the alarm, and continues when there is gas", async () => {
    const { contracts, chain } = scene();
    const { address } = senderOf("relayer");
    await chain.fund(address, 1n);
    const relayId = await queued(contracts);
    expect(await relayNow(relayId, { timeoutMs })).toBeNull();
    expect((await relayRowOf(relayId)).failure).toBe("The relayer's balance does not pay for its gas.");
    await watchSenders();
    expect(senders().filter(({ low }) => low)).toMatchObject([{ key: "relayer", balance: 1n }]);
    const [line] = (await viewHealth()).senders;
    const reason = "The relayer's balance does not pay for its gas.";
    expect(line).toMatchObject({ key: "relayer", address, balance: "0", low: true, open: 1, reason });
    expect(await metrics().registry.metrics()).toMatch(/countersign_relayer_balance_wei\{[^}]*key="relayer"\} 1\n/);
    await chain.fund(address);
    await watchSenders();
    expect(senders().some(({ low }) => low)).toBe(false);
    expect((await worked(relayId)).status).toBe("sent");
  });

  test("it waits while the chain asks for higher fees than are allowed", async () => {
    configure({ RELAY_MAX_FEE_GWEI: "0.001" });
    const relayId = await queued(scene().contracts);
    expect(await relayNow(relayId, { timeoutMs })).toBeNull();
    expect(await relayRowOf(relayId)).toMatchObject({ status: "queued", failure: expect.stringContaining("base fee") });
    configure({ RELAY_MAX_FEE_GWEI: "100" });
    expect((await worked(relayId)).status).toBe("sent");
  });

  test("a stuck transaction is replaced by the same call with higher fees, up to the limit", async () => {
    await withoutMining();
    const relayId = await queued(scene().contracts);
    const first = await hashOf(relayId);
    const before = await relayRowOf(relayId);
    await age(relayId, 31);
    const after = await worked(relayId);
    expect(after).toMatchObject({ status: "sent", nonce: before.nonce, earlierHashes: [first] });
    // The replacement was signed now, but the call still waits since it was queued.
    expect(Number((await openBySender())[0]?.waitingSeconds)).toBeGreaterThan(30);
    expect(after.maxFeePerGas! * 8n >= before.maxFeePerGas! * 9n).toBe(true);
    expect(after.maxPriorityFeePerGas! * 8n >= before.maxPriorityFeePerGas! * 9n).toBe(true);
    configure({ RELAY_MAX_FEE_GWEI: String(Number(after.maxFeePerGas) / 1e9) });
    await age(relayId, 31);
    expect((await worked(relayId)).hash).toBe(after.hash);
    const { client } = scene().chain;
    const { pending } = await client.getTxpoolContent();
    expect(Object.values(pending).flatMap((byNonce) => Object.keys(byNonce))).toHaveLength(1);
    await client.mine({ blocks: 1 });
    expect(await worked(relayId)).toMatchObject({ status: "mined", hash: after.hash });
  });

  test("no nonce is skipped, whatever the node answers", async () => {
    const first = await queued(scene().contracts);
    await hashOf(first);
    expect((await worked(first)).status).toBe("mined");
    await database()
      .update(relayedTransactions)
      .set({ nonce: sql`nonce + 1` });
    const second = await queued(scene().contracts);
    expect(await relayNow(second, { timeoutMs })).toBeNull();
    expect(await relayRowOf(second)).toMatchObject({ status: "queued", failure: expect.stringContaining("all earlier") });
    await database().delete(relayedTransactions).where(eq(relayedTransactions.relayId, first));
    expect((await worked(second)).status).toBe("sent");
  });

  test("if another transaction of the key has used the nonce, the call is sent with another nonce", async () => {
    await withoutMining();
    const { client } = scene().chain;
    const relayId = await queued(scene().contracts);
    const hash = await hashOf(relayId);
    const { nonce } = await relayRowOf(relayId);
    await client.dropTransaction({ hash });
    const account = senderOf("relayer");
    await client.sendTransaction({ account, to: newKey().address, nonce: nonce! });
    await client.mine({ blocks: 1 });
    expect((await worked(relayId)).status).toBe("sent");
    await age(relayId, 61);
    expect(await worked(relayId)).toMatchObject({ status: "queued", nonce: null });
    const anew = await worked(relayId);
    expect(anew).toMatchObject({ status: "sent", nonce: nonce! + 1, earlierHashes: [hash] });
    await client.mine({ blocks: 1 });
    expect(await worked(relayId)).toMatchObject({ status: "mined", hash: anew.hash });
  });
});

describe("several processes", () => {
  test("never use a nonce twice; if one dies between storing and sending, another sends the same bytes once", async () => {
    const { contracts, chain } = scene();
    const before = await nonceOf();
    const node = await nodeInBetween(chain.rpcUrl);
    const other = anotherRelayer({ databaseUrl: databaseOf().url, rpcUrl: node.rpcUrl });
    const first = await queued(contracts);
    while ((await relayRowOf(first)).status === "queued") await pause(20);
    const relayIds = await Promise.all(Array.from({ length: 11 }, () => queued(contracts)));
    await Promise.all(relayIds.slice(0, 6).map(hashOf));
    while ((await open()) > 0) {
      await relay();
      await pause(20);
    }
    const rows = await database().select().from(relayedTransactions);
    expect(rows.map(({ status }) => status)).toEqual(rows.map(() => "mined"));
    const nonces = rows.map(({ nonce }) => nonce!).toSorted((a, b) => a - b);
    expect(nonces).toEqual(Array.from({ length: 12 }, (_, index) => before + index));

    node.beforeSending(() => other.child.kill("SIGKILL"));
    const relayId = await queued(contracts);
    await other.ended;
    const stored = await relayRowOf(relayId);
    expect([stored.status, await nonceOf("pending")]).toEqual(["sent", before + 12]);
    expect((await worked(relayId)).status).toBe("sent");
    expect(await nonceOf("pending")).toBe(before + 12);
    await expireLeases();
    const sent = await worked(relayId);
    expect([sent.hash, sent.rawTransaction]).toEqual([stored.hash, stored.rawTransaction]);
    expect(await worked(relayId)).toMatchObject({ status: "mined", hash: stored.hash });
    expect(await nonceOf()).toBe(before + 13);
  });
});
