import type { Hex } from "viem";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { senderOf } from "#lib/onchain/keys.ts";
import { relay } from "#lib/onchain/relay/relay-worker.ts";
import { relayNow } from "#lib/onchain/relay/queue-relay.ts";
import { followRevocations } from "#lib/onchain/registration/revoke-registrations.ts";
import { mandateRegistrations, relayedTransactions } from "#lib/onchain/tables.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, eventsOf } from "#test/mandates.ts";
import { useSettlement } from "#test/payments.ts";
import { createOfficial, stopNow } from "#test/platform.ts";
import { useContracts } from "#test/registered.ts";
import { age, fundSenders, makeDue, registrationOf, relayRowOf, submittedRegistration } from "#test/relays.ts";
import { registryAbi } from "#test/smart-account.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();
const chainOfTest = useSettlement();
const contractsOfTest = useContracts(chainOfTest);
const scene = () => ({ chain: chainOfTest(), contracts: contractsOfTest() });

beforeAll(() => fundSenders(chainOfTest()));

let person: Credential;
let organizationId: string;

beforeEach(async () => {
  await database().delete(relayedTransactions);
  await database().delete(mandateRegistrations);
  organizationId = await createOrganization("Buyer");
  person = (await createPerson(organizationId)).credential;
});

async function work(times = 1): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    await makeDue();
    await relay();
    await followRevocations();
  }
}

async function submitted() {
  const mandateId = await activeMandate(person);
  return { mandateId, registration: await submittedRegistration(scene().contracts, { organizationId, mandateId }) };
}

const revoke = (mandateId: string) => send(contract.revokeMandate, revokeMandate, { as: person, id: mandateId, body: {} });
const stateOf = async (registrationId: string) => (await registrationOf(registrationId)).revocation;

type Registration = Awaited<ReturnType<typeof submitted>>["registration"];
const onChain = async ({ terms, onChainId }: Registration) => {
  const { chain, contracts } = scene();
  const call = { address: contracts.registry, abi: registryAbi, args: [terms.account, onChainId] } as const;
  const [stored, revoked] = await Promise.all([
    chain.client.readContract({ ...call, functionName: "termsOf" }),
    chain.client.readContract({ ...call, functionName: "revoked" }),
  ]);
  return { registered: (stored as { account: string }).account === terms.account, revoked };
};

describe("revoking a mandate on chain", () => {
  test("the guardian revokes a registered mandate, and the registration shows the progress", async () => {
    const { mandateId, registration } = await submitted();
    await work(2);
    expect(await onChain(registration)).toEqual({ registered: true, revoked: false });
    expect((await revoke(mandateId)).status).toBe(200);
    expect((await revoke(mandateId)).status).toBe(200);
    expect(await stateOf(registration.registrationId)).toBe("requested");
    await work();
    expect(await stateOf(registration.registrationId)).toBe("sent");
    await work();
    expect(await registrationOf(registration.registrationId)).toMatchObject({
      revocation: "revoked",
      revokedAt: expect.any(Date),
    });
    expect(await onChain(registration)).toEqual({ registered: true, revoked: true });
    const events = await eventsOf(mandateId);
    expect(events.filter(({ type }) => type === "onchain.mandateRevoked")).toMatchObject([
      {
        actorId: "service",
        metadata: { onChainId: registration.onChainId, transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
      },
    ]);
  });

  test("a revocation wins against a registration that was sent and not mined", async () => {
    const { chain } = scene();
    await chain.client.setAutomine(false);
    onTestFinished(() => chain.client.setAutomine(true));
    const { mandateId, registration } = await submitted();
    const relayed = await relayNow(registration.relayId, { timeoutMs: 5_000 });
    if (!relayed || !("hash" in relayed)) throw new Error("It was not sent.");
    await chain.client.dropTransaction(relayed);
    await revoke(mandateId);
    const { revokeRelayId } = await registrationOf(registration.registrationId);
    await relayNow(revokeRelayId!, { timeoutMs: 5_000 });
    await chain.client.mine({ blocks: 1 });
    await work();
    await chain.client.mine({ blocks: 1 });
    await work();
    expect(await onChain(registration)).toEqual({ registered: false, revoked: true });
    expect(await stateOf(registration.registrationId)).toBe("revoked");
    expect((await relayRowOf(registration.relayId)).status).toBe("reverted");
  });

  test("a registration that was not sent yet is canceled, and its id is revoked too", async () => {
    const nonce = () => scene().chain.client.getTransactionCount({ address: senderOf("relayer").address });
    const before = await nonce();
    const { mandateId, registration } = await submitted();
    await revoke(mandateId);
    const refused = "The mandate was revoked before its registration was sent.";
    expect(await relayNow(registration.relayId, { timeoutMs: 5_000 })).toEqual({ refused });
    await work(2);
    expect(await onChain(registration)).toEqual({ registered: false, revoked: true });
    expect(await nonce()).toBe(before);
  });

  test("an emergency stop revokes on the chain too, a suspension does not", async () => {
    const { mandateId, registration } = await submitted();
    await work(2);
    await send(contract.suspendMandate, suspendMandate, { as: person, id: mandateId, body: {} });
    expect(await stateOf(registration.registrationId)).toBe("none");
    const { data } = await stopNow(await createOfficial("operator"), { mandateId });
    expect(data.auditEvent.metadata).toMatchObject({ hit: { mandate: { revocationsOnChain: 1 } } });
    await work(2);
    expect(await onChain(registration)).toEqual({ registered: true, revoked: true });
  });

  test("a revocation continues after missing gas and a lost nonce", async () => {
    const { chain } = scene();
    const { mandateId, registration } = await submitted();
    await work(2);
    const { address } = senderOf("guardian");
    await chain.fund(address, 0n);
    await revoke(mandateId);
    await work();
    expect(await stateOf(registration.registrationId)).toBe("requested");
    await chain.fund(address);
    await chain.client.setAutomine(false);
    onTestFinished(() => chain.client.setAutomine(true));
    await work();
    const { revokeRelayId } = await registrationOf(registration.registrationId);
    const { hash, nonce } = await relayRowOf(revokeRelayId!);
    await chain.client.dropTransaction({ hash: hash as Hex });
    await chain.client.sendTransaction({ account: senderOf("guardian"), to: address, nonce: nonce! });
    await chain.client.mine({ blocks: 1 });
    await age(revokeRelayId!, 61);
    await work();
    expect(await stateOf(registration.registrationId)).toBe("requested");
    await work();
    await chain.client.mine({ blocks: 1 });
    await work();
    expect(await stateOf(registration.registrationId)).toBe("revoked");
    expect(await onChain(registration)).toEqual({ registered: true, revoked: true });
  });
});
