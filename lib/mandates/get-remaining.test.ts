import { beforeAll, expect, test } from "vitest";
import { getRemaining } from "#lib/mandates/get-remaining.ts";
import { getRemaining as operation } from "#lib/mandates/contract.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets, authorize, createBuyer, type Buyer } from "#test/mandates.ts";
import { createAgent, send } from "#test/tenant.ts";

useDatabase();

let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer();
});

const policy = {
  assets,
  limits: {
    perPayment: "1",
    total: "20",
    budgets: [
      { period: "month", timezone: "UTC", amount: "5" },
      { rolling: "PT24H", amount: "3" },
    ],
    counts: [{ period: "month", timezone: "UTC", max: 10 }],
  },
  approval: { mode: "above", amount: "0.75" },
};

test("200 lists for each limit the used amount, the remaining amount and the time at which the limit resets", async () => {
  const id = await activeMandate(buyer.person.credential, { policy });
  const before = await send(operation, getRemaining, { as: buyer.agent.credential, id });
  expect(before.data.limits.find(({ window }) => window === "PT24H")).toMatchObject({ used: "0", remaining: "3" });
  expect(before.data.limits.find(({ window }) => window === "PT24H")).not.toHaveProperty("resetsAt");

  await authorize(buyer, id);
  const { status, data } = await send(operation, getRemaining, { as: buyer.agent.credential, id });
  expect(status).toBe(200);
  expect(data).toMatchObject({
    mandateId: id,
    status: "active",
    asset: {
      asset: "USDC",
      chain: "eip155:84532",
      tokenAddress: "0x036cbd53842c5426634e7929541ec2318f3dcf7e",
      tokenDecimals: 6,
    },
    approval: { mode: "above", amount: "0.75" },
    stepUp: { above: "100", aboveUnverified: "25" },
  });
  expect(data.limits).toEqual([
    { pointer: "/limits/perPayment", unit: "USDC", limit: "1", used: "0", remaining: "1" },
    { pointer: "/limits/total", unit: "USDC", limit: "20", used: "0.5", remaining: "19.5" },
    {
      pointer: "/limits/budgets/0",
      window: "month UTC",
      unit: "USDC",
      limit: "5",
      used: "0.5",
      remaining: "4.5",
      resetsAt: expect.stringMatching(/-01T00:00:00.000Z$/),
    },
    {
      pointer: "/limits/counts/0",
      window: "month UTC",
      unit: "payments",
      limit: "10",
      used: "1",
      remaining: "9",
      resetsAt: expect.stringMatching(/-01T00:00:00.000Z$/),
    },
    {
      pointer: "/limits/budgets/1",
      window: "PT24H",
      unit: "USDC",
      limit: "3",
      used: "0.5",
      remaining: "2.5",
      resetsAt: expect.any(String),
    },
  ]);
});

test("404 for a mandate of another organization, and 403 without mandates:read", async () => {
  const id = await activeMandate(buyer.person.credential);
  expect((await send(operation, getRemaining, { as: buyer.foreign, id })).status).toBe(404);
  const { credential } = await createAgent(buyer.organizationId, ["payments:authorize"]);
  expect((await send(operation, getRemaining, { as: credential, id })).status).toBe(403);
});
