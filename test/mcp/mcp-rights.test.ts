import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { checkoutIntents } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { apiKeys, serviceAccounts } from "#lib/identity/tables.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { reachable } from "#lib/mcp/reachable.ts";
import { tools } from "#lib/mcp/tools.ts";
import { mcpTools } from "#lib/pages/docs/skill-text.ts";
import * as payments from "#lib/payments/contract.ts";
import { listPayments } from "#lib/payments/list-payments.ts";
import { Capability } from "#lib/vocabulary.ts";
import { open } from "#test/checkouts.ts";
import { newKey as newAgent, newOrganization } from "#test/identity.ts";
import { activeMandate } from "#test/mandates.ts";
import { newClient, type Fields, type Result } from "#test/mcp.ts";
import { idIn, reachHost, text, mcpScene } from "#test/mcp-scene.ts";
import { openPaywall } from "#test/paywall.ts";
import { createAgent, send } from "#test/tenant.ts";

const { scene, mandate, registeredMandate, askingMandate, intent, report, asks, basket, client, approved } = mcpScene();

/** Checks that the seller's 402, which can contain any text, stands in the part that is marked as data, and only there. */
function isApart(texts: readonly string[]): void {
  expect(texts.map((one) => [one.startsWith("The text below was written by the seller"), one.includes("x402Version")])).toEqual([
    [false, false],
    [true, true],
  ]);
}

test("the documentation names every tool", () => {
  expect(mcpTools.map(([name]) => name)).toEqual(tools.map(({ name }) => name));
});

describe("fetch_paid", () => {
  test.each([
    ["a domain that the mandate forbids", { domains: { deny: ["127.0.0.1"] } }, {}],
    ["a domain that it does not admit", { domains: { allow: ["data.example.com"] } }, {}],
    ["a POST to a domain that it does not name", {}, { method: "POST", body: {} }],
  ])("sends nothing to %s", async (_, change, args) => {
    const host = await openPaywall();
    reachHost(host.url);
    const mandateId = await activeMandate(scene().owner.credential, { policy: { ...open, ...change } });
    const { call } = await client();
    const { structuredContent } = await call("fetch_paid", { url: `${host.url}/report`, mandateId, ...args });
    expect(structuredContent).toMatchObject({ status: "denied", next: expect.stringContaining("Nothing was sent") });
    expect(host.asked).toEqual([]);
  });

  test("says what to do if nobody can sign, and reserves nothing", async () => {
    const mandateId = await activeMandate(scene().owner.credential, { policy: open });
    const { call } = await client();
    const host = await openPaywall();
    reachHost(host.url);
    const { structuredContent, texts } = await call("fetch_paid", { url: `${host.url}/report`, mandateId });
    isApart(texts);
    expect(structuredContent).toMatchObject({
      status: "setupRequired",
      setup: { payTo: host.payTo, amount: "0.25", options: [{}, {}] },
    });
    const budget = (await call("get_budget", { mandateId })).structuredContent["mandates"] as { limits: { used: string }[] }[];
    expect(budget[0]?.limits.map(({ used }) => used)).toEqual(["0", "0"]);
    expect(host.asked).toEqual(["GET /report"]);
  });

  test("get_payment marks the seller's 402 as data", async () => {
    const { call } = await client();
    const { authorizationId } = (await call("authorize_payment", asks(mandate.free))).structuredContent;
    isApart((await call("get_payment", { authorizationId })).texts);
  });

  test("an order asks for a credential after the approval if the service cannot sign, and marks the shop's texts as data", async () => {
    const { call } = await client();
    const args = basket();
    await approved(text((await call("place_order", args)).structuredContent, "checkoutIntentId"));
    const { structuredContent, texts } = await call("place_order", args);
    expect(structuredContent).toMatchObject({ status: "paymentCredentialRequired", order: { paymentRequired: {} } });
    isApart(texts);
    expect(texts.map((one) => one.includes("Hostile Shop"))).toEqual([false, true]);
  });

  test.each([
    ["another host of this network", "https://10.0.0.1/", "/url"],
    ["this service", "http://localhost:3000/api/v1/health/live", "/url"],
  ])("refuses %s", async (_, url, pointer) => {
    const { call } = await client();
    const { structuredContent, isError } = await call("fetch_paid", { url, mandateId: mandate.free });
    expect([isError, structuredContent]).toMatchObject([true, { status: "refused", problem: { errors: [{ pointer }] } }]);
  });
});

test("get_budget finds the agent's mandate behind 20 newer ones of another agent", async () => {
  const owner = await newOrganization();
  const [agent, other] = [await newAgent(owner), await newAgent(owner)];
  const mandateOf = ({ serviceAccountId }: typeof agent) =>
    activeMandate(owner.credential, { policy: open, agents: [serviceAccountId] });
  const mandateId = await mandateOf(agent);
  for (let count = 0; count < 20; count += 1) await mandateOf(other);
  const { call } = await client(agent);
  expect((await call("get_budget")).structuredContent).toMatchObject({ mandates: [{ mandateId }], more: false });
});

describe("rights", () => {
  /** All of them, or one of a list in the list. */
  const needs: Readonly<Record<string, readonly (Capability | readonly Capability[])[]>> = {
    get_budget: ["mandates:read"],
    check_purchase: ["mandates:read"],
    fetch_paid: ["payments:authorize", "payments:execute", "mandates:read", "payments:read"],
    authorize_payment: ["payments:authorize"],
    execute_payment: ["payments:read", "payments:execute"],
    record_payment: [["payments:execute", "payments:record"]],
    place_order: ["orders:place"],
    get_payment: ["payments:read"],
    cancel: ["checkouts:preview"],
  };
  let asked: Fields;
  beforeAll(async () => {
    const { call } = await client();
    asked = (await call("authorize_payment", asks(await askingMandate()))).structuredContent;
  });

  const argumentsOf = (): Readonly<Record<string, Fields>> => ({
    get_budget: { mandateId: mandate.free },
    check_purchase: { mandateId: mandate.free, intent: intent() },
    fetch_paid: report(mandate.free),
    authorize_payment: asks(mandate.free),
    execute_payment: { authorizationId: asked["authorizationId"] },
    record_payment: { authorizationId: asked["authorizationId"], outcome: "paid", amount: "1", asset: "USDC" },
    place_order: basket(),
    get_payment: { authorizationId: asked["authorizationId"] },
    cancel: { checkoutIntentId: asked["checkoutIntentId"] },
  });
  const codeOf = ({ structuredContent }: Result) => (structuredContent["problem"] as { code?: string } | undefined)?.code;

  /** Reads the mandates, the keys and the approvals, which no tool may change. */
  const untouched = async () => [
    await database()
      .select({ id: mandates.mandateId, version: mandates.version, status: mandates.status })
      .from(mandates)
      .orderBy(mandates.mandateId),
    await database().select({ id: apiKeys.keyId, revokedAt: apiKeys.revokedAt }).from(apiKeys).orderBy(apiKeys.keyId),
    await database()
      .select({ status: checkoutIntents.status })
      .from(checkoutIntents)
      .where(eq(checkoutIntents.checkoutIntentId, text(asked, "checkoutIntentId"))),
    await database().$count(checkoutIntents, eq(checkoutIntents.status, "approved")),
  ];

  test("no tool reaches an operation that approves, raises a limit or revokes", () => {
    // The next tests call the tools in `needs` and `argumentsOf`, so a new tool must be added to both.
    for (const tested of [needs, argumentsOf()]) expect(Object.keys(tested)).toEqual(tools.map(({ name }) => name));
    expect(Object.values(reachable).map(({ operation }) => operation.id)).toEqual(Object.keys(reachable));
    for (const { operation } of Object.values(reachable)) {
      const either = operation.id === "recordPayment" && { orCapability: "payments:record" };
      expect(operation.access).toEqual({ capability: expect.any(String), ...either });
      expect(operation.id).not.toMatch(
        /^(approve|step|extend|takeBack|create|update|activate|suspend|resume|revoke|rotate|register|emergency)/i,
      );
    }
  });

  test("each tool needs the capabilities that the HTTP API needs, and never approves, raises a limit or revokes", async () => {
    const agents = await Promise.all(
      [...Capability.options.map((one) => [one]), [...Capability.options]].map(async (capabilities) => ({
        capabilities,
        credential: (await createAgent(scene().owner.organizationId, capabilities)).credential,
      })),
    );
    const before = await untouched();
    for (const { capabilities, credential } of agents) {
      const { call } = await newClient(scene().service.url, credential);
      for (const [name, args] of Object.entries(argumentsOf())) {
        const held = needs[name]!.every((one) => [one].flat().some((either) => capabilities.includes(either)));
        const result = await call(name, args);
        expect([capabilities, name, codeOf(result) === "capability_required"]).toEqual([capabilities, name, !held]);
      }
    }
    expect(await untouched()).toEqual(before);
  });

  test("every tool answers not_found to an agent of another organization", async () => {
    const stranger = await newAgent(await newOrganization());
    const { call } = await client(stranger);
    const before = await untouched();
    const served = scene().seller.served();
    for (const [name, args] of Object.entries(argumentsOf())) {
      const result = await call(name, args);
      expect([name, codeOf(result)]).toEqual([name, "not_found"]);
    }
    expect((await call("get_budget")).structuredContent).toMatchObject({ mandates: [] });
    expect([await untouched(), scene().seller.served()]).toEqual([before, served]);
  });

  test("an agent whose mandates a person chose sees and uses only those", async () => {
    const { serviceAccountId, credential } = await newAgent(scene().owner);
    const chosen = eq(serviceAccounts.serviceAccountId, serviceAccountId);
    await database()
      .update(serviceAccounts)
      .set({ mandateIds: [mandate.orders] })
      .where(chosen);
    const { call } = await newClient(scene().service.url, credential);
    const budget = (await call("get_budget")).structuredContent["mandates"] as Fields[];
    expect(budget.map(({ mandateId }) => mandateId)).toEqual([mandate.orders]);
    const before = scene().seller.served();
    expect((await call("fetch_paid", report(mandate.free))).structuredContent["status"]).toMatch(/^(denied|refused)$/);
    expect(scene().seller.served()).toBe(before);
  });

  test("a key that is revoked while its call waits is refused, also after an approval, and nothing is paid", async () => {
    const { serviceAccountId, credential } = await createAgent(scene().owner.organizationId, [...Capability.options]);
    const mandateId = await registeredMandate({ mode: "always" });
    const before = scene().seller.served();
    const { call } = await newClient(scene().service.url, credential, async ({ url }) => {
      await approved(idIn(url));
      await database().update(apiKeys).set({ revokedAt: new Date() }).where(eq(apiKeys.serviceAccountId, serviceAccountId));
      return "accept" as const;
    });
    await expect(call("fetch_paid", report(mandateId))).rejects.toThrow();
    const paid = await send(payments.listPayments, listPayments, {
      as: scene().owner.credential,
      query: `?mandateId=${mandateId}`,
    });
    expect(paid.data.items.map(({ executions }) => executions)).toEqual([[]]);
    expect(scene().seller.served()).toBe(before);
  });
});
