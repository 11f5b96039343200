import { beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { createMandate as operation } from "#lib/mandates/contract.ts";
import { createMandate } from "#lib/mandates/lifecycle/create-mandate.ts";
import { mandates } from "#lib/mandates/tables.ts";
import { useDatabase } from "#test/database.ts";
import { assets, CHAIN, draftMandate, eventsOf, policy } from "#test/mandates.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let organizationId: string;
let as: Credential;

beforeAll(async () => {
  organizationId = await createOrganization();
  as = (await createPerson(organizationId)).credential;
});

const { limits } = policy;
const wallet = { chain: CHAIN, address: "0x5fbdb2315678afecb367f032d93f642f64180aa3" };

describe("createMandate", () => {
  test("201 makes a draft and shows its usage", async () => {
    const { serviceAccountId } = await createAgent(organizationId, []);
    const body = { name: " Research ", policy, agents: [serviceAccountId], wallet, metadata: { team: "r&d" } };
    const { status, data } = await send(operation, createMandate, { as, body });
    expect(status).toBe(201);
    expect(data).toMatchObject({
      ...body,
      name: "Research",
      organizationId,
      environment: "sandbox",
      status: "draft",
      version: 1,
    });
    expect(data.usage).toEqual([
      {
        window: "day UTC",
        unit: "USDC",
        start: expect.stringMatching(/T00:00:00.000Z$/),
        end: expect.stringMatching(/T00:00:00.000Z$/),
        limit: "5",
        spent: "0",
        reserved: "0",
        available: "5",
      },
    ]);
    expect(await eventsOf(data.mandateId)).toMatchObject([
      { type: "mandate.created", metadata: { version: 1, name: "Research" } },
    ]);
  });

  test("201 omits absent fields, and shows totals and counts", async () => {
    const { counts, total } = { counts: [{ rolling: "PT24H", max: 7 }], total: "20" };
    const body = { name: "Test", policy: { assets, limits: { perPayment: "1", total, counts } }, wallet: null };
    const { data } = await send(operation, createMandate, { as, body });
    for (const absent of ["agents", "wallet", "metadata"]) expect(data).not.toHaveProperty(absent);
    expect(data.usage).toMatchObject([
      { window: "total", unit: "USDC", limit: "20", available: "20" },
      { window: "PT24H", unit: "payments", limit: "7", spent: "0", available: "7" },
    ]);
  });

  test("201 a key can make a draft, which pays nothing until a person activates it", async () => {
    const { credential, serviceAccountId } = await createAgent(organizationId, ["mandates:create"]);
    const mandate = await draftMandate(credential);
    expect(mandate.status).toBe("draft");
    expect(await eventsOf(mandate.mandateId)).toMatchObject([{ actorId: serviceAccountId }]);
  });

  test("401 without a credential, 403 without the capability", async () => {
    const body = { name: "Test", policy };
    expect(await send(operation, createMandate, { body })).toMatchObject({ status: 401, problem: { code: "unauthenticated" } });
    for (const { credential } of [
      await createAgent(organizationId, ["mandates:read"]),
      await createPerson(organizationId, "viewer"),
    ]) {
      const { status, problem } = await send(operation, createMandate, { as: credential, body });
      expect([status, problem.code]).toEqual([403, "capability_required"]);
    }
  });

  const invalid: [guarantee: string, body: Record<string, unknown>, pointers: string[]][] = [
    ["an unknown field", { status: "active" }, ["/status"]],
    ["fields that the service owns", { organizationId: "org_x", version: 9 }, ["/organizationId", "/version"]],
    ["no name", { name: "  " }, ["/name"]],
    ["an unknown rule", { policy: { ...policy, weather: "sunny" } }, ["/policy/weather"]],
    ["a limit as a number", { policy: { assets, limits: { ...limits, perPayment: 1 } } }, ["/policy/limits/perPayment"]],
    ["no budget and no total", { policy: { assets, limits: { perPayment: "1" } } }, ["/policy/limits"]],
    ["too many digits", { policy: { assets, limits: { ...limits, perPayment: "0.0000001" } } }, ["/policy/limits/perPayment"]],
    [
      "an unknown zone",
      { policy: { assets, limits: { perPayment: "1", budgets: [{ period: "day", timezone: "Mars/Olympus", amount: "1" }] } } },
      ["/policy/limits/budgets/0/timezone"],
    ],
    [
      "a rolling window that is no duration",
      { policy: { assets, limits: { perPayment: "1", budgets: [{ rolling: "1 day", amount: "1" }] } } },
      ["/policy/limits/budgets/0/rolling"],
    ],
    ["an unknown chain", { policy: { ...policy, assets: [{ asset: "USDC", chain: "eip155:1" }] } }, ["/policy/assets/0/chain"]],
    ["an unknown asset", { policy: { ...policy, assets: [{ asset: "DOGE", chain: CHAIN }] } }, ["/policy/assets/0/asset"]],
    ["an agent that does not exist", { agents: ["sa_nobody"] }, ["/agents/0"]],
    ["a wallet elsewhere", { wallet: { ...wallet, chain: "eip155:1" } }, ["/wallet/chain"]],
    ["a wallet that is no address", { wallet: { ...wallet, address: "0x0" } }, ["/wallet/address"]],
  ];
  test.each(invalid)("400 points at %s and writes nothing", async (_guarantee, fields, pointers) => {
    const before = await database().$count(mandates);
    const { status, problem } = await send(operation, createMandate, { as, body: { name: "Test", policy, ...fields } });
    expect([status, problem.code]).toEqual([400, "invalid_request"]);
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(pointers);
    expect(await database().$count(mandates)).toBe(before);
  });

  test("400 for the agent of another organization", async () => {
    const stranger = await createAgent(await createOrganization("Other"), []);
    const { status, problem } = await send(operation, createMandate, {
      as,
      body: { name: "Test", policy, agents: [stranger.serviceAccountId] },
    });
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, "/agents/0"]);
  });

  test("a repeat with the same idempotency key gets the same bytes, and 422 with another body", async () => {
    const body = { name: "Once", policy };
    const first = await send(operation, createMandate, { as, body, key: "k-1" });
    const again = await send(operation, createMandate, { as, body, key: "k-1" });
    expect(again.data).toEqual(first.data);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect(await eventsOf(first.data.mandateId)).toHaveLength(1);
    const other = await send(operation, createMandate, { as, body: { ...body, name: "Twice" }, key: "k-1" });
    expect([other.status, other.problem.code]).toEqual([422, "idempotency_key_reused"]);
  });
});
