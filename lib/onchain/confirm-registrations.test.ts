import { beforeAll, describe, expect, test } from "vitest";
import { newId } from "#lib/ids.ts";
import { updateMandate } from "#lib/mandates/contract.ts";
import { updateMandate as update } from "#lib/mandates/update-mandate.ts";
import { confirmRegistrations } from "#lib/onchain/confirm-registrations.ts";
import { relay } from "#lib/onchain/relay-worker.ts";
import { useDatabase } from "#test/database.ts";
import { eventsOf } from "#test/mandates.ts";
import { useSettlement } from "#test/payments.ts";
import { useContracts } from "#test/registered.ts";
import { register, registrable, signedBody } from "#test/registrations.ts";
import { configureChain, fundSenders, makeDue, registrationOf, registrationsOf, submittedRegistration } from "#test/relays.ts";
import { registrationArgs, registryAbi } from "#test/smart-account.ts";
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

/** The relayer sends and follows, and the registrations are looked at. */
async function lookAgain(registrationId: string) {
  await makeDue();
  await relay();
  await confirmRegistrations();
  return registrationOf(registrationId);
}

const registryCall = { abi: registryAbi, functionName: "registerMandate" } as const;

describe("confirmRegistrations", () => {
  test("what was mined is registered, by the transaction that was mined", async () => {
    const { registrationId, request } = await submitted();
    await expect.poll(async () => (await lookAgain(registrationId)).status, { timeout: 10_000 }).toBe("registered");
    expect((await registrationOf(registrationId)).txHash).toMatch(/^0x[0-9a-f]{64}$/);
    expect((await eventsOf(request.mandateId)).map(({ type }) => type)).toContain("mandate.registered");
  });

  test("what somebody else submitted is registered too", async () => {
    const signed = await submitted();
    const args = registrationArgs({ ...signed, mandateId: signed.onChainId });
    await chain().mined(chain().client.writeContract({ address: contracts().registry, ...registryCall, args }));
    const row = await lookAgain(signed.registrationId);
    expect([row.status, row.txHash]).toEqual(["registered", null]);
  });

  test("what the chain refuses before anything is sent is failed, with the reason", async () => {
    const signed = await submitted(1n);
    const row = await lookAgain(signed.registrationId);
    expect(row).toMatchObject({ status: "failed", failure: expect.stringContaining("DeadlinePassed") as unknown });
    expect((await eventsOf(signed.request.mandateId)).map(({ type }) => type)).toContain("mandate.registrationFailed");
  });

  test("a chain that does not answer says nothing about it", async () => {
    const { registrationId } = await submitted();
    configureChain({ rpcUrl: "http://127.0.0.1:9" });
    expect((await lookAgain(registrationId)).status).toBe("submitted");
  });
});

test("registering a version has the guardian close those before it", async () => {
  const scene = await registrable();
  await register(scene.mandateId, await signedBody(scene));
  await send(updateMandate, update, { as: scene.as, id: scene.mandateId, body: { name: "Renamed" } });
  expect((await register(scene.mandateId, await signedBody(scene))).status).toBe(200);
  const rows = await registrationsOf(scene.mandateId);
  expect(rows).toMatchObject([
    { version: 1, revocation: "requested" },
    { version: 2, revocation: "none" },
  ]);
});
