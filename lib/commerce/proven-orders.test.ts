import { eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkReadiness } from "#lib/commerce/check-readiness.ts";
import { modeChecks } from "#lib/commerce/readiness/readiness-onchain.ts";
import * as readiness from "#lib/commerce/readiness-contract.ts";
import { database } from "#lib/db/client.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { findMandate, reading } from "#lib/mandates/store.ts";
import { mandateRegistrations, registrationSlots } from "#lib/onchain/tables.ts";
import { executions } from "#lib/holds/tables.ts";
import { approve, checkoutScene, items, open, previewed, read, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { openHostileStorefront, type HostileStorefront } from "#test/hostile-storefront.ts";
import { revokeOnChain } from "#test/mandate-on-chain.ts";
import { activeMandate, CHAIN } from "#test/mandates.ts";
import { goOn, newOrderKey, place, settlesThrough, untilOver } from "#test/orders.ts";
import { useSettlement } from "#test/payments.ts";
import { brokenInvariants } from "#test/proof.ts";
import { register, useContracts } from "#test/registered.ts";
import { stockFacilitator } from "#test/shop.ts";
import { delegated } from "#test/smart-account.ts";
import { createAgent, createOrganization, createPerson, send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();
const contracts = useContracts(chain);

let shop: HostileStorefront;
beforeAll(async () => {
  shop = await openHostileStorefront();
  settlesThrough(shop, await stockFacilitator(chain()));
  return () => shop.close();
});
beforeEach(() => {
  shop.credentials.length = 0;
});
afterAll(async () => expect(await brokenInvariants()).toEqual([]));

/**
 * Registers a mandate for the payee `payTo`, on the chain only if `onChain` is true, and makes an agent without a wallet. An
 * order costs 25 USDC.
 */
async function registered({ balance = 100_000_000n, onChain = true, payTo = shop.payTo } = {}) {
  const key = await delegated(chain(), contracts().implementation);
  await chain().mint(key.address, balance);
  const scene = await buyer(key.address);
  return { ...scene, key, ...(await register(chain(), contracts(), key, { ...scene, payTo, terms, onChain })) };
}

const terms = { perPaymentLimit: 25_000_000n, periodLimit: 100_000_000n };

async function buyer(address?: string) {
  const organizationId = await createOrganization("Buyer");
  const person = await createPerson(organizationId);
  const agent = await createAgent(organizationId, ["orders:place", "readiness:read"]);
  const wallet = address === undefined ? undefined : { chain: CHAIN, address };
  return { organizationId, agent, mandateId: await activeMandate(person.credential, { policy: open, wallet }) };
}

const attemptsOf = async ({ mandateId }: { readonly mandateId: string }) =>
  (await database().select().from(executions).where(eq(executions.mandateId, mandateId))).map(
    ({ settlementStatus, failureCode }) => failureCode ?? settlementStatus,
  );

describe("an order under a mandate that is registered for the storefront", () => {
  test("is paid once, by the call that decides, without a signed payment of the agent", async () => {
    const scene = await registered();
    const key = newOrderKey();
    const [done] = await Promise.all([1, 2].map(() => untilOver(() => place(scene, shop, key))));
    expect(done?.data).toMatchObject({
      status: "completed",
      scope: { paymentMode: "service7702", payTo: shop.payTo },
      storefront: { paymentScope: { paymentMode: "service7702" }, metadata: { orderId: expect.any(String) as string } },
      nextAction: { type: "none" },
    });
    expect(done?.data.paymentRequired).toBeUndefined();
    expect((await place(scene, shop, key)).data).toEqual(done?.data);
    expect(shop.credentials).toHaveLength(1);
    expect(await chain().balanceOf(scene.key.address)).toBe(75_000_000n);
    const slots = await database()
      .select()
      .from(registrationSlots)
      .where(eq(registrationSlots.registrationId, scene.registrationId));
    expect(slots.map(({ slot, status }) => [slot, status])).toEqual([[0, "used"]]);
  });

  test("continues after the buyer's approval without a signed payment of the agent", async () => {
    const key = await delegated(chain(), contracts().implementation);
    await chain().mint(key.address, 25_000_000n);
    const wallet = { chain: CHAIN, address: key.address };
    const scene = await checkoutScene({ mandate: { policy: { ...open, approval: { mode: "always" } }, wallet } });
    const { mandateId } = scene;
    const { organizationId } = scene.person;
    await register(chain(), contracts(), key, { mandateId, organizationId, payTo: shop.payTo, terms });
    const checkoutIntentId = await previewed(shop, scene.agent.credential, { mandateId });
    await reviewed(checkoutIntentId, scene.person);
    expect((await approve(checkoutIntentId, scene.person.credential)).status).toBe(200);
    const { continuationToken = "" } = (await read(checkoutIntentId, scene.agent.credential)).data;
    const orderKey = newOrderKey();
    const paid = await untilOver(() => goOn(scene, checkoutIntentId, continuationToken, orderKey));
    expect(paid.data).toMatchObject({ status: "completed", scope: { paymentMode: "service7702" } });
    expect(await chain().balanceOf(key.address)).toBe(0n);
  });

  test("waits while the account has too little money; afterwards a call with the same key pays", async () => {
    const scene = await registered({ balance: 0n });
    const key = newOrderKey();
    const poor = await place(scene, shop, key);
    expect(poor.data).toMatchObject({ status: "failed", nextAction: { type: "pollStatus" } });
    expect(poor.data.intent?.metadata).toMatchObject({ failureCode: "insufficient_funds" });
    await chain().mint(scene.key.address, 25_000_000n);
    expect((await untilOver(() => place(scene, shop, key))).data.status).toBe("completed");
    expect(await attemptsOf(scene)).toEqual(["insufficient_funds", "settled"]);
  });

  test("is refused with the chain's error name, and nothing is sent", async () => {
    const scene = await registered();
    await revokeOnChain(chain(), contracts(), scene.key.address, scene.onChainId);
    const { status, problem } = await place(scene, shop, newOrderKey());
    expect([status, problem.code]).toEqual([403, "mandate_revoked"]);
    expect([await attemptsOf(scene), shop.credentials]).toEqual([[], []]);
  });

  test("asks for a signed payment if the mandate is registered for another payee", async () => {
    const scene = await registered({ payTo: `0x${"12".repeat(20)}` });
    const { data } = await place(scene, shop, newOrderKey());
    expect(data).toMatchObject({ status: "paymentCredentialRequired", scope: { paymentMode: "eip3009" } });
  });
});

describe("readiness says how an order would be paid", () => {
  const ask = async (scene: Awaited<ReturnType<typeof buyer>>, body: Record<string, unknown> = {}) => {
    const asked = { mandateId: scene.mandateId, storefrontUrl: shop.url, items, ...body };
    const as = scene.agent.credential;
    const { data } = await send(readiness.checkReadiness, checkReadiness, { as, body: asked });
    const of = (key: string) => data.checks.find((check) => check.key === key);
    const status = (key: string) => of(key)?.status;
    return {
      data,
      of,
      statuses: ["paymentMode", "onchainDeployment", "onchainMandateRegistered", "walletDelegated"].map(status),
    };
  };
  const onChain = { paymentMode: "service7702" };

  test("by the service, if the mandate is registered for the storefront", async () => {
    const scene = await registered();
    for (const body of [{}, onChain]) {
      const { data, of, statuses } = await ask(scene, body);
      expect(statuses).toEqual(["ready", "ready", "ready", "ready"]);
      expect([data.status, of("paymentMode")?.message]).toEqual(["ready", expect.stringContaining("The service signs")]);
    }
    const { statuses } = await ask(scene, { paymentMode: "eip3009" });
    expect(statuses).toEqual(["ready", undefined, undefined, undefined]);
  });

  test("not in the last seconds of a period, when the service signs nothing", async () => {
    const { mandateId } = await registered();
    const [known] = await database().select().from(mandateRegistrations).where(eq(mandateRegistrations.mandateId, mandateId));
    const now = new Date(((known?.start ?? 0) + (known?.periodSeconds ?? 0) - 10) * 1_000);
    const mandate = await reading((tx) => findMandate(tx, known!, mandateId));
    const asset = assetOf(CHAIN, "USDC") ?? undefined;
    const checks = await modeChecks({ mode: "service7702", mandate, asset, amount: 1n, payTo: shop.payTo, now });
    const found = checks.find(({ key }) => key === "onchainMandateRegistered");
    expect([found?.status, found?.problem?.code]).toEqual(["actionRequired", "rate_limited"]);
  });

  test.each([
    ["is not registered", null, "mandate_not_active", "register_mandate_onchain"],
    ["is registered for somebody else", { payTo: `0x${"12".repeat(20)}` }, "payee_not_allowed", "register_mandate_onchain"],
    ["is not known to the chain", { onChain: false }, "mandate_not_active", "register_mandate_onchain"],
  ] as const)("not by the service, if the mandate %s", async (_name, given, code, action) => {
    const { of, data } = await ask(given ? await registered(given) : await buyer(), onChain);
    expect([data.status, of("onchainMandateRegistered")?.status]).toEqual(["actionRequired", "actionRequired"]);
    expect(of("onchainMandateRegistered")?.problem?.code).toBe(code);
    expect(data.requiredActions.map(({ type }) => type)).toContain(action);
  });
});
