import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import { database } from "#lib/db/client.ts";
import { updateMandate as operation } from "#lib/mandates/contract.ts";
import * as contract from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { mandateVersions, usageBuckets } from "#lib/mandates/tables.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { captureHold, holdOf, releaseHold } from "#lib/holds/hold-store.ts";
import { useDatabase } from "#test/database.ts";
import { useBuyer } from "#test/mandate-steps.ts";
import { activeMandate, assets, authorize, draftMandate, eventsOf, policy } from "#test/mandates.ts";
import { createAgent, send } from "#test/tenant.ts";

useDatabase();

const { buyer, as } = useBuyer();

const DAY = { period: "day", timezone: "UTC" };
const withLimits = (limits: Record<string, unknown>) => ({ assets, limits: { perPayment: "1", ...limits } });
const patch = (id: string, body: unknown, by = as) => send(operation, updateMandate, { as: by, id, body });
const outcomeOf = async (id: string) => {
  const { policyDecision } = await authorize(buyer, id);
  return policyDecision.denialCode ?? policyDecision.outcome;
};
const bucketsOf = (id: string) =>
  database().select().from(usageBuckets).where(eq(usageBuckets.mandateId, id)).orderBy(usageBuckets.windowKey);

async function resolve(authorizationId: string, how: "capture" | "release"): Promise<void> {
  await transact(async (tx) => {
    const hold = await holdOf(tx, authorizationId);
    if (how === "capture") await captureHold(tx, hold!);
    else await releaseHold(tx, hold!, "released");
  });
}

describe("updateMandate", () => {
  test("200 makes a new version, which decisions name, and keeps the old one", async () => {
    const id = await activeMandate(as);
    const { status, data } = await patch(id, { name: "Renamed" });
    expect([status, data.version, data.name, data.policy]).toEqual([200, 2, "Renamed", policy]);
    expect((await authorize(buyer, id)).policyDecision.reasons[0]?.policyVersion).toBe(2);
    const versions = await database().select().from(mandateVersions).where(eq(mandateVersions.mandateId, id));
    expect(versions.map(({ version }) => version)).toEqual([1, 2]);
    expect((await eventsOf(id)).at(-1)).toMatchObject({ type: "mandate.versioned", metadata: { version: 2, changed: ["name"] } });
  });

  test("200 binds agents and a wallet, and null removes them", async () => {
    const id = await activeMandate(as);
    const wallet = { chain: assets[0]!.chain, address: "0x5fbdb2315678afecb367f032d93f642f64180aa3" };
    const other = await createAgent(buyer.organizationId, []);
    expect((await patch(id, { agents: [other.serviceAccountId], wallet })).data).toMatchObject({
      agents: [other.serviceAccountId],
      wallet,
    });
    expect(await outcomeOf(id)).toBe("agent_not_bound");
    const { data } = await patch(id, { agents: null, wallet: null });
    expect([data.agents, data.wallet]).toEqual([undefined, undefined]);
    expect(await outcomeOf(id)).toBe("allow");
  });

  test("a new version resets no budget", async () => {
    const id = await activeMandate(as, { policy: withLimits({ budgets: [{ ...DAY, amount: "1" }] }) });
    expect([await outcomeOf(id), await outcomeOf(id)]).toEqual(["allow", "allow"]);
    const { data } = await patch(id, { policy: withLimits({ budgets: [{ ...DAY, amount: "1" }] }) });
    expect(data.usage).toMatchObject([{ reserved: "1", available: "0" }]);
    expect(await outcomeOf(id)).toBe("period_budget_exceeded");
  });

  test("a raised limit allows more", async () => {
    const upTo = (amount: string) => {
      const budgets = [
        { ...DAY, amount },
        { rolling: "PT24H", amount },
      ];
      return { policy: withLimits({ perPayment: "0.5", total: amount, budgets }) };
    };
    const id = await activeMandate(as, upTo("0.5"));
    expect([await outcomeOf(id), await outcomeOf(id)]).toEqual(["allow", "mandate_exhausted"]);
    await patch(id, upTo("1"));
    expect([await outcomeOf(id), await outcomeOf(id)]).toEqual(["allow", "mandate_exhausted"]);
  });

  test("a limit may be lower than the usage: no budget is left, and open holds can still end", async () => {
    const id = await activeMandate(as, { policy: withLimits({ total: "5", budgets: [{ ...DAY, amount: "5" }] }) });
    const [one, two] = [await authorize(buyer, id), await authorize(buyer, id)];
    const { status, data } = await patch(id, {
      policy: withLimits({ perPayment: "0.1", total: "0.1", budgets: [{ ...DAY, amount: "0.1" }] }),
    });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      status: "exhausted",
      usage: [{ limit: "0.1", reserved: "1", available: "0" }, { available: "0" }],
    });
    await resolve(one.authorizationId, "capture");
    await resolve(two.authorizationId, "release");
    expect(await bucketsOf(id)).toMatchObject([{ spent: 500_000n, reserved: 0n, payments: 1, ceiling: 1_000_000n }]);
  });

  test("a window of a new kind counts earlier payments, also when their holds end later", async () => {
    const id = await activeMandate(as);
    const [one, two, three] = [await authorize(buyer, id), await authorize(buyer, id), await authorize(buyer, id)];
    await resolve(one.authorizationId, "capture");
    await resolve(two.authorizationId, "release");
    const budgets = [
      { ...DAY, amount: "5" },
      { rolling: "PT24H", amount: "5" },
      { period: "month", timezone: "Europe/Berlin", amount: "50" },
    ];
    const counts = [{ rolling: "PT1H", max: 9 }];
    const { data } = await patch(id, { policy: withLimits({ budgets, counts }) });
    expect(data.usage).toMatchObject([
      { window: "day UTC", spent: "0.5", reserved: "0.5" },
      { window: "PT24H", spent: "0.5", reserved: "0.5", available: "4" },
      { window: "month Europe/Berlin", spent: "0.5", reserved: "0.5", available: "49" },
      { window: "PT1H", unit: "payments", spent: "2", available: "7" },
    ]);
    await resolve(three.authorizationId, "release");
    for (const bucket of await bucketsOf(id)) expect(bucket).toMatchObject({ spent: 500_000n, reserved: 0n, payments: 1 });
    expect(await bucketsOf(id)).toHaveLength(4);
  });

  test("a window that only counted payments becomes a budget with their amounts", async () => {
    const id = await activeMandate(as, { policy: withLimits({ total: "5", counts: [{ ...DAY, max: 9 }] }) });
    await authorize(buyer, id);
    const { data } = await patch(id, {
      policy: withLimits({ budgets: [{ ...DAY, amount: "1" }], counts: [{ ...DAY, max: 2 }] }),
    });
    expect(data.usage).toMatchObject([
      { unit: "USDC", reserved: "0.5", available: "0.5" },
      { unit: "payments", spent: "1", available: "1" },
    ]);
    expect([await outcomeOf(id), await outcomeOf(id)]).toEqual(["allow", "period_budget_exceeded"]);
    expect(await bucketsOf(id)).toMatchObject([{ reserved: 1_000_000n, ceiling: 1_000_000n, payments: 2 }]);
  });

  test("a window that was removed and added again counts the payments in between, once", async () => {
    const day = withLimits({ budgets: [{ ...DAY, amount: "1" }] });
    const id = await activeMandate(as, { policy: day });
    const first = await authorize(buyer, id);
    await patch(id, { policy: withLimits({ total: "5" }) });
    const second = await authorize(buyer, id);
    const { data } = await patch(id, { policy: day });
    expect(data.usage).toMatchObject([{ window: "day UTC", reserved: "1", available: "0" }]);
    await resolve(first.authorizationId, "release");
    await resolve(second.authorizationId, "release");
    expect(await bucketsOf(id)).toMatchObject([{ spent: 0n, reserved: 0n, payments: 0 }]);
  });

  test("usage always equals the holds in the ledger, with any changes between payments", async () => {
    const id = await activeMandate(as);
    const shapes = [
      { total: "50" },
      {
        budgets: [
          { ...DAY, amount: "50" },
          { rolling: "PT1M", amount: "50" },
        ],
      },
      { budgets: [{ rolling: "PT24H", amount: "50" }] },
    ];
    for (let index = 0; index < 9; index++) {
      const { authorizationId } = await authorize(buyer, id);
      if (index % 3 === 1) await resolve(authorizationId, "capture");
      if (index % 3 === 2) await resolve(authorizationId, "release");
      await patch(id, { policy: withLimits(shapes[index % shapes.length]!) });
    }
    const { data } = await patch(id, {
      policy: withLimits({
        total: "50",
        budgets: [
          { ...DAY, amount: "50" },
          { rolling: "PT24H", amount: "50" },
        ],
      }),
    });
    const [{ spent, reserved } = { spent: "", reserved: "" }] = await database().execute<{ spent: string; reserved: string }>(sql`
      SELECT sum(amount) FILTER (WHERE status = 'captured')::text AS spent, sum(amount) FILTER (WHERE status = 'held')::text AS reserved
      FROM reservations WHERE mandate_id = ${id}`);
    expect([spent, reserved]).toEqual(["1500000", "1500000"]);
    for (const usage of data.usage) expect(usage).toMatchObject({ spent: "1.5", reserved: "1.5", available: "47" });
  });

  test("parallel payments and changes are each counted once", async () => {
    const id = await activeMandate(as);
    const shapes = [{ budgets: [{ rolling: "PT24H", amount: "50" }] }, { budgets: [{ ...DAY, amount: "50" }] }];
    const paying = Array.from({ length: 24 }, () => authorize(buyer, id));
    const changing = shapes.concat(shapes, shapes).map((limits) => patch(id, { policy: withLimits(limits) }));
    const outcomes = (await Promise.all(paying)).map(({ policyDecision }) => policyDecision.outcome);
    await Promise.all(changing);
    const allowed = outcomes.filter((outcome) => outcome === "allow").length;
    const { data } = await patch(id, { policy: withLimits({ total: "50", budgets: shapes.map(({ budgets }) => budgets[0]) }) });
    for (const usage of data.usage) expect(Number(usage.reserved)).toBe(allowed * 0.5);
  });

  test("400 points at the wrong field and makes no version", async () => {
    const id = await activeMandate(as);
    const other = { ...policy, assets: [{ asset: "DAI", chain: assets[0]!.chain }] };
    const rows: [body: unknown, pointer: string][] = [
      [{}, ""],
      [{ status: "active" }, "/status"],
      [{ policy: withLimits({ budgets: [{ ...DAY, amount: "0" }] }) }, "/policy/limits/budgets/0/amount"],
      [{ policy: other }, "/policy/assets/0"],
      [{ agents: ["sa_nobody"] }, "/agents/0"],
      [{ wallet: { chain: "eip155:1", address: "0x5fbdb2315678afecb367f032d93f642f64180aa3" } }, "/wallet/chain"],
    ];
    for (const [body, pointer] of rows) {
      const { status, problem } = await patch(id, body);
      expect([status, problem.errors?.[0]?.pointer]).toEqual([400, pointer]);
    }
    expect((await eventsOf(id)).map(({ type }) => type)).toEqual(["mandate.created", "mandate.activated"]);
  });

  test("403 for every key, 403 for a person without the right, 404 for another organization", async () => {
    const { mandateId } = await draftMandate(as);
    const key = await createAgent(buyer.organizationId, ["mandates:create", "mandates:read", "mandates:revoke"]);
    expect(await patch(mandateId, { name: "X" }, key.credential)).toMatchObject({ status: 403, problem: { code: "forbidden" } });
    expect((await patch(mandateId, { name: "X" }, buyer.foreign)).status).toBe(404);
  });

  test("409 after the mandate was revoked", async () => {
    const { mandateId } = await draftMandate(as);
    await send(contract.revokeMandate, revokeMandate, { as, id: mandateId });
    expect(await patch(mandateId, { name: "X" })).toMatchObject({ status: 409, problem: { code: "conflict" } });
  });

  test("parallel changes are all kept, each as its own version", async () => {
    const { mandateId } = await draftMandate(as);
    const replies = await Promise.all(Array.from({ length: 8 }, (_, index) => patch(mandateId, { name: `Name ${index}` })));
    expect(replies.map(({ data }) => data.version).toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
