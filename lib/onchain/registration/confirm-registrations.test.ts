import { getAddress } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "#lib/ids.ts";
import { updateMandate } from "#lib/mandates/contract.ts";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { updateMandate as update } from "#lib/mandates/lifecycle/update-mandate.ts";
import { viewMandate } from "#lib/pages/buyer/view-mandate.ts";
import { confirmRegistrations } from "#lib/onchain/registration/confirm-registrations.ts";
import { nonceOfSlot } from "#lib/onchain/registry/refusals.ts";
import { relay } from "#lib/onchain/relay/relay-worker.ts";
import { transferTypes } from "#lib/onchain/token.ts";
import { viewBudget, viewOnChain } from "#lib/pages/buyer/view-on-chain.ts";
import { usdcAddress } from "#test/chain.ts";
import { useDatabase } from "#test/database.ts";
import { eventsOf } from "#test/mandates.ts";
import { useSettlement } from "#test/payments.ts";
import { registeredScene, useContracts, type RegisteredScene } from "#test/registered.ts";
import { register, registrable, signedBody } from "#test/registrations.ts";
import { configureChain, fundSenders, makeDue, registrationOf, submittedRegistration } from "#test/relays.ts";
import { CHAIN_ID, registrationArgs, registryAbi } from "#test/smart-account.ts";
import { createOrganization, send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
const contracts = useContracts(chain);
beforeAll(() => fundSenders(chain()));

const submitted = async (deadline?: bigint) =>
  submittedRegistration(contracts(), {
    organizationId: await createOrganization(),
    mandateId: newId("mandate"),
    ...(deadline !== undefined && { deadline }),
  });

/** Sends the waiting transactions and checks the registrations once. */
async function lookAgain(registrationId: string) {
  await makeDue();
  await relay();
  await confirmRegistrations();
  return registrationOf(registrationId);
}

const registryCall = { abi: registryAbi, functionName: "registerMandate" } as const;

describe("confirmRegistrations", () => {
  test("a mined registration becomes registered, with its transaction", async () => {
    const { registrationId, request } = await submitted();
    await expect.poll(async () => (await lookAgain(registrationId)).status).toBe("registered");
    expect((await registrationOf(registrationId)).txHash).toMatch(/^0x[0-9a-f]{64}$/);
    expect((await eventsOf(request.mandateId)).map(({ type }) => type)).toContain("onchain.mandateRegistrationConfirmed");
  });

  test("a registration that somebody else submitted becomes registered too", async () => {
    const signed = await submitted();
    const args = registrationArgs({ ...signed, mandateId: signed.onChainId });
    await chain().mined(chain().client.writeContract({ address: contracts().registry, ...registryCall, args }));
    const row = await lookAgain(signed.registrationId);
    expect([row.status, row.txHash]).toEqual(["registered", null]);
  });

  test("a registration that the chain would refuse is not sent and fails with the reason", async () => {
    const signed = await submitted(1n);
    const row = await lookAgain(signed.registrationId);
    expect(row).toMatchObject({ status: "failed", failure: expect.stringContaining("DeadlinePassed") as unknown });
    expect((await eventsOf(signed.request.mandateId)).map(({ type }) => type)).toContain("onchain.mandateRegistrationFailed");
  });

  test("while the chain does not answer, the registration does not change", async () => {
    const { registrationId } = await submitted();
    configureChain({ rpcUrl: "http://127.0.0.1:9" });
    expect((await lookAgain(registrationId)).status).toBe("submitted");
  });
});

test("after a version is registered, the guardian closes the earlier versions", async () => {
  const scene = await registrable();
  await register(scene.mandateId, await signedBody(scene));
  await send(updateMandate, update, { as: scene.as, id: scene.mandateId, body: { name: "Renamed" } });
  expect((await register(scene.mandateId, await signedBody(scene))).status).toBe(200);
  const view = await viewOnChain(await mandateOf(scene));
  expect(view).toMatchObject({ current: { version: 2, revocation: "none" }, earlier: [{ version: 1, revocation: "requested" }] });
});

const mandateOf = async ({ organizationId, mandateId }: { organizationId: string; mandateId: string }): Promise<Mandate> =>
  (await viewMandate({ organizationId, environment: "sandbox" }, mandateId)).mandate;

/**
 * Signs with the account's own key a transfer that uses the nonce of a slot (the number of a payment in its period), and sends
 * it. At the token this has the same effect as a payment by proof.
 */
async function useSlot({ key, terms, onChainId }: RegisteredScene, period: number, slot: number): Promise<void> {
  const nonce = nonceOfSlot(onChainId, period, slot);
  const message = { from: key.address, to: terms.payee, value: 1_000n, validAfter: 0n, validBefore: 2n ** 40n, nonce };
  const signature = await key.signTypedData({
    domain: { name: "USDC", version: "2", chainId: CHAIN_ID, verifyingContract: usdcAddress },
    types: transferTypes,
    primaryType: "TransferWithAuthorization",
    message,
  });
  const abi = [
    {
      type: "function",
      name: "transferWithAuthorization",
      stateMutability: "nonpayable",
      inputs: [...transferTypes.TransferWithAuthorization, { name: "signature", type: "bytes" }],
      outputs: [],
    },
  ] as const;
  const args = [message.from, message.to, message.value, message.validAfter, message.validBefore, nonce, signature] as const;
  await chain().mined(
    chain().client.writeContract({ address: usdcAddress, abi, functionName: "transferWithAuthorization", args }),
  );
}

describe("the chain's view of a registered mandate", () => {
  test("shows what is registered, the use of the period, and the delegation of the account", async () => {
    const scene = await registeredScene(chain(), contracts());
    const { current } = (await viewOnChain(await mandateOf(scene)))!;
    expect(current).toMatchObject({
      status: "registered",
      payee: getAddress(scene.terms.payee),
      perPayment: "0.25",
      budget: "1",
      payments: 4,
      path: "proofs",
    });
    const before = await viewBudget(scene.mandateId, current!.registrationId);
    expect(before).toMatchObject({ chain: { registered: true, revoked: false, delegated: true, payments: 0, spent: null } });
    await useSlot(scene, 0, 0);
    await useSlot(scene, 0, 2);
    const after = await viewBudget(scene.mandateId, current!.registrationId);
    expect(after).toMatchObject({ chain: { payments: 2, partly: false }, here: { payments: 0, amount: "0" } });
  });

  test("shows a missing delegation and a missing registration", async () => {
    const scene = await registeredScene(chain(), contracts(), { delegate: false, onChain: false });
    expect(await viewBudget(scene.mandateId, scene.registrationId)).toMatchObject({
      chain: { registered: false, delegated: false },
    });
  });

  test("is unknown while the chain does not answer; the service's own records are still shown", async () => {
    const scene = await registeredScene(chain(), contracts());
    configureChain({ rpcUrl: "http://127.0.0.1:9" });
    expect(await viewBudget(scene.mandateId, scene.registrationId)).toMatchObject({
      chain: null,
      period: { start: expect.any(String) as unknown },
      here: { payments: 0 },
    });
  });
});
