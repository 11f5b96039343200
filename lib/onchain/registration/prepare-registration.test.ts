import { beforeAll, describe, expect, test } from "vitest";
import * as mandates from "#lib/mandates/contract.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { prepareRegistration } from "#lib/onchain/registration/prepare-registration.ts";
import * as contract from "#lib/onchain/registry/registration-contract.ts";
import { useDatabase } from "#test/database.ts";
import { revoke, suspend } from "#test/mandate-steps.ts";
import { assets, draftMandate } from "#test/mandates.ts";
import { useSettlement } from "#test/payments.ts";
import { useContracts } from "#test/registered.ts";
import { prepared, registrable, register, signedBody, type Registrable } from "#test/registrations.ts";
import { configureChain, fundSenders, registrationsOf } from "#test/relays.ts";
import { newKey } from "#test/smart-account.ts";
import { proved } from "#test/proofs.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
const contracts = useContracts(chain);
let scene: Registrable;
beforeAll(async () => {
  await fundSenders(chain());
  scene = await registrable();
});

const prepare = ({ as, mandateId, payee }: Registrable, query = `?payeeAddress=${payee}`, id = mandateId) =>
  send(contract.prepareRegistration, prepareRegistration, { as, id, query });
const update = ({ as, mandateId }: Registrable, body: Record<string, unknown>) =>
  proved(as, () => send(mandates.updateMandate, updateMandate, { as, id: mandateId, body }));

describe("prepareRegistration", () => {
  test("200 with the limits of the mandate for this payee, and stores nothing", async () => {
    const { status, data } = await prepare(scene);
    expect(status).toBe(200);
    expect(data).toMatchObject({
      contractAddress: contracts().registry,
      account: scene.wallet.address,
      version: 1,
      delegation: { address: contracts().implementation, nonce: 0, done: false },
    });
    expect(data.typedData.domain.verifyingContract).toBe(contracts().registry);
    expect(data.typedData.message).toMatchObject({
      account: scene.wallet.address,
      payee: scene.payee,
      perPaymentLimit: "1000000",
      periodLimit: "5000000",
      periodSeconds: "86400",
      maxPaymentsPerPeriod: "5",
      enforcementPath: "1",
      nonce: data.nonce,
      deadline: String(data.deadline),
    });
    const minutesLeft = (data.deadline - Date.now() / 1_000) / 60;
    expect(minutesLeft).toBeGreaterThan(29);
    expect(minutesLeft).toBeLessThan(31);
    expect((await prepared(scene)).nonce).not.toBe(data.nonce);
    expect((await prepared(scene, "module")).typedData.message.enforcementPath).toBe("2");
    expect(await registrationsOf(scene.mandateId)).toEqual([]);
  });

  test.each([
    ["/query/payeeAddress", "?payeeAddress=0x036CBD53842c5426634e7929541eC2318f3dCF7e"],
    ["/query/payeeAddress", ""],
    ["/query/chain", `?payeeAddress=0x${"5a".repeat(20)}&chain=eip155:1`],
    ["/query/path", `?payeeAddress=0x${"5a".repeat(20)}&path=both`],
  ])("400 points at %s of %s", async (pointer, query) => {
    const { status, problem } = await prepare(scene, query);
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, pointer]);
  });

  test("404 for a mandate of another organization, as for an unknown one", async () => {
    const other = await registrable();
    const [foreign, unknown] = [await prepare({ ...scene, as: other.as }), await prepare(scene, undefined, "mdt_never")];
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
    expect({ ...foreign.problem, requestId: "" }).toEqual({ ...unknown.problem, requestId: "" });
  });

  test("refuses a draft, a suspended and a revoked mandate", async () => {
    const { as, payee } = scene;
    const { mandateId } = await draftMandate(as);
    const codeOf = async (id: string) => (await prepare({ ...scene, payee }, undefined, id)).problem.code;
    expect(await codeOf(mandateId)).toBe("mandate_not_active");
    const own = await registrable();
    await suspend(own.as, own.mandateId);
    expect((await prepare(own)).problem).toMatchObject({ code: "mandate_not_active", nextActions: [{ type: "resume_mandate" }] });
    await revoke(own.as, own.mandateId);
    expect((await prepare(own)).problem.code).toBe("mandate_revoked");
  });

  test("refuses a payee that the policy does not allow, a mandate without a wallet, and limits that the registry cannot hold", async () => {
    const own = await registrable();
    const limits = { perPayment: "1", total: "5" };
    await update(own, { policy: { assets, limits, payTo: { allow: [newKey().address] } } });
    expect((await prepare(own)).problem.code).toBe("policy_denied");
    await update(own, { policy: { assets, limits: { perPayment: "0.000001", total: "5000" } } });
    expect((await prepare(own)).problem.code).toBe("conflict");
    await update(own, { policy: { assets, limits }, wallet: null });
    expect((await prepare(own)).problem).toMatchObject({ code: "conflict", nextActions: [{ type: "connect_wallet" }] });
  });

  test("502 while a configured contract is not the one on the chain, so that no wallet delegates to other code", async () => {
    const restore = configureChain({ contracts: { smartPaymentAccount: contracts().paymentModule } });
    const { status, problem } = await prepare(scene);
    expect([status, problem.code]).toEqual([502, "rpc_unavailable"]);
    restore();
    expect((await prepare(scene)).status).toBe(200);
  });

  test("409 for a version that is registered, 502 while the chain does not answer", async () => {
    const own = await registrable();
    const restore = configureChain({ rpcUrl: "http://127.0.0.1:9" });
    const silent = await prepare(own);
    restore();
    expect([silent.status, silent.problem.code]).toEqual([502, "rpc_unavailable"]);
    expect((await register(own.mandateId, await signedBody(own))).status).toBe(200);
    const { status, problem } = await prepare(own);
    expect([status, problem.code]).toEqual([409, "conflict"]);
  });
});
