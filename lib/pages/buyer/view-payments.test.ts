import { reservationIdOf } from "#lib/holds/ids.ts";
import { sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import { firstIdAt, newId } from "#lib/ids.ts";
import { reading } from "#lib/mandates/store.ts";
import { paymentsQuery } from "#lib/pages/buyer/payments/page-store.ts";
import { readPaymentFilter } from "#lib/payments/payment-filter.ts";
import { viewPaymentChoices, viewPayments } from "#lib/pages/buyer/view-payments.ts";
import { useDatabase } from "#test/database.ts";
import { seedPayments } from "#test/many-payments.ts";
import {
  authorized,
  execute,
  expectedOf,
  newWallet,
  paymentScene,
  signed,
  useSettlement,
  type PaymentScene,
} from "#test/payments.ts";
import { planOf } from "#test/plan.ts";

useDatabase();
const chain = useSettlement();

const scopeOf = ({ organizationId }: Pick<PaymentScene, "organizationId">) => ({ organizationId, environment: "sandbox" });
const list = (scene: Pick<PaymentScene, "organizationId">, query: Record<string, string> = {}, limit = 50) => {
  const { cursor, ...rest } = query;
  return viewPayments(scopeOf(scene), readPaymentFilter(rest), { cursor, limit });
};
const found = async (scene: PaymentScene, query: Record<string, string>) =>
  (await list(scene, query)).items.map((item) => item.authorizationId);

async function pay(scene: PaymentScene, idempotencyKey: string) {
  const wallet = newWallet();
  await chain().mint(wallet.address, 1_000_000n);
  const { authorizationId } = await authorized(scene);
  const paymentCredential = await signed(wallet, expectedOf(scene));
  const { data } = await execute(scene, { authorizationId, idempotencyKey, paymentCredential });
  return data;
}

describe("viewPayments", () => {
  test("shows amount, payee, agent, mandate and stage of each payment", async () => {
    const scene = await paymentScene();
    await authorized(scene, { amount: "0.26" });
    const { executionId, authorizationId } = await pay(scene, "shown");
    const [paid, denied, ...others] = (await list(scene)).items;
    expect(others).toEqual([]);
    expect(paid).toMatchObject({
      authorizationId,
      stage: { of: "settlement", status: "pending" },
      amount: "0.25",
      total: "0.25",
      asset: "USDC",
      mandateId: scene.mandateId,
      asker: { subjectId: scene.agent.serviceAccountId },
      seller: { sellerId: scene.seller.sellerId },
      execution: { executionId, settlementStatus: "pending", transaction: null },
    });
    expect(paid?.mandate).not.toBe(scene.mandateId);
    expect(denied).toMatchObject({ stage: { of: "outcome", status: "deny" }, denialCode: "challenge_mismatch", execution: null });
  });

  test("lists payments newest first, and no page loses or repeats a payment", async () => {
    const scene = await paymentScene();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.push((await authorized(scene)).authorizationId);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(scene, cursor === undefined ? {} : { cursor }, 2);
      seen.push(...page.items.map((item) => item.authorizationId));
      cursor = page.nextCursor;
    } while (cursor);
    expect(seen).toEqual(ids.toReversed());
  });

  test("shows the newest of several failed executions, whatever their order in the table", async () => {
    const scene = await paymentScene();
    const { authorizationId } = await authorized(scene);
    const attempt = (minute: number) => ({
      executionId: firstIdAt("execution", new Date(Date.UTC(2026, 0, 1, 0, minute))),
      authorizationId,
      ...scopeOf(scene),
      mandateId: scene.mandateId,
      subjectId: scene.agent.serviceAccountId,
      settlementMode: "facilitatorSettled",
      settlementStatus: "failed",
      settlementReference: `0x${String(minute).padStart(64, "0")}`,
      resolvedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)),
    });
    for (const minute of [2, 3, 1]) await database().insert(executions).values(attempt(minute));
    // With statistics PostgreSQL reads so small a table in its own order, without an index.
    await database().execute(sql`ANALYZE executions`);
    const { executionId, settlementReference: transaction } = attempt(3);
    expect((await list(scene)).items[0]?.execution).toMatchObject({
      executionId,
      settlementStatus: "failed",
      transaction,
      resolvedAt: "2026-01-01T00:03:00.000Z",
    });
  });

  test("finds by every filter, and by every id and amount that a person may have", async () => {
    const scene = await paymentScene();
    const other = await paymentScene();
    await authorized(other);
    const idle = (await authorized(scene)).authorizationId;
    const denied = (await authorized(scene, { amount: "0.26", intentId: "asked-too-much" })).authorizationId;
    const { authorizationId: paid, executionId, intentId } = await pay(scene, "lost-execute");
    const all = [paid, denied, idle];
    const reservationId = reservationIdOf({ authorizationId: idle });
    const transaction = `0x${"ab".repeat(32)}`;
    await database().execute(
      sql`UPDATE executions SET settlement_reference = ${transaction} WHERE execution_id = ${executionId}`,
    );
    const { domain } = (await list(scene)).items[0]?.seller ?? {};
    const today = new Date().toISOString().slice(0, 10);
    const finds: readonly (readonly [Record<string, string>, readonly string[]])[] = [
      [{ outcome: "deny" }, [denied]],
      [{ outcome: "allow" }, [paid, idle]],
      [{ outcome: "requireApproval" }, []],
      [{ settlement: "pending" }, [paid]],
      [{ settlement: "failed" }, []],
      [{ settlement: "pending", outcome: "deny" }, []],
      [{ mandate: scene.mandateId }, all],
      [{ mandate: other.mandateId }, []],
      [{ agent: scene.agent.serviceAccountId }, all],
      [{ agent: other.agent.serviceAccountId }, []],
      [{ seller: domain ?? "" }, all],
      [{ seller: "nowhere.example" }, []],
      [{ createdFrom: today }, all],
      [{ createdTo: "2020-01-01" }, []],
      [{ createdFrom: "2020-01-01", createdTo: today }, all],
      [{ q: paid }, [paid]],
      [{ q: executionId }, [paid]],
      [{ q: reservationId }, [idle]],
      [{ q: transaction.toUpperCase().replace("X", "x") }, [paid]],
      [{ q: "lost-execute" }, [paid]],
      [{ q: intentId }, [paid]],
      [{ q: "asked-too-much" }, [denied]],
      [{ q: domain ?? "" }, all],
      [{ q: "0.26" }, [denied]],
      [{ q: "0.25 USDC" }, [paid, idle]],
      [{ q: newId("authorization") }, []],
      [{ q: paid, settlement: "failed" }, []],
      [{ q: paid, settlement: "pending" }, [paid]],
    ];
    for (const [query, ids] of finds) expect([query, await found(scene, query)]).toEqual([query, ids]);
    for (const q of [paid, executionId, transaction, "lost-execute", intentId])
      expect([q, await found(other, { q })]).toEqual([q, []]);
  });

  test("offers the organization's mandates, agents and members as choices", async () => {
    const scene = await paymentScene();
    const { mandates, askers } = await viewPaymentChoices(scopeOf(scene));
    expect(mandates.map(({ mandateId }) => mandateId)).toEqual([scene.mandateId]);
    expect(askers.map(({ subjectId }) => subjectId)).toEqual([scene.agent.serviceAccountId, scene.person.userId]);
  });
});

describe("the list of an organization with 10,000 payments among 30,000", () => {
  const big = { organizationId: "org_big" };
  beforeAll(async () => {
    await seedPayments("org_big", 10_000);
    for (let other = 0; other < 4; other++) await seedPayments(`org_other_${other}`, 5_000);
    await database().execute(sql`ANALYZE authorizations, executions`);
  });

  test.each([
    ["nothing narrows it", {}, "authorizations_of_organization"],
    ["by mandate", { mandate: "mdt_org_big3" }, "authorizations_of_mandate"],
    ["by agent", { agent: "sa_3" }, "authorizations_of_organization"],
    ["by domain", { seller: "shop3.example" }, "authorizations_of_organization"],
    ["by what was denied", { outcome: "deny" }, "authorizations_not_allowed"],
    ["by what a person is asked about", { outcome: "requireApproval" }, "authorizations_not_allowed"],
    ["by what was allowed", { outcome: "allow" }, "authorizations_of_organization"],
    ["by settlement", { settlement: "unknown" }, "executions_of_status"],
    ["by failure", { settlement: "failed" }, "executions_of_status"],
    ["by amount", { q: "0.0042" }, "authorizations_of_organization"],
    ["by time", { createdFrom: "2026-01-01", createdTo: "2026-12-31" }, "authorizations_of_organization"],
    ["by several", { outcome: "deny", mandate: "mdt_org_big0", agent: "sa_0" }, "authorizations_of_mandate"],
  ])("is read only by index when filtered %s", async (_, query, index) => {
    const statement = paymentsQuery(scopeOf(big), readPaymentFilter(query), null, { limit: 51, place: null });
    const plan = await reading(() => planOf({ toSQL: () => new PgDialect().sqlToQuery(statement) }, []));
    expect(plan.whole).toEqual([]);
    expect(plan.indexes).toContain(index);
  });

  test("searches 5,000 payments at once, says that there are older ones, and continues with them", async () => {
    // The payment of 0.000042 USDC is the 42nd oldest of 10,000, so it is not among the newest 5,000.
    const first = await list(big, { q: "0.000042" });
    expect(first).toMatchObject({ items: [], hasMore: true, looksFurther: true });
    const second = await list(big, { q: "0.000042", cursor: first.nextCursor ?? "" });
    expect(second).toMatchObject({ items: [{ amount: "0.000042" }] });
    const last = second.nextCursor === undefined ? second : await list(big, { q: "0.000042", cursor: second.nextCursor });
    expect(last.hasMore).toBe(false);
  });

  test("filtered by settlement finds all payments, each once", async () => {
    const unknown = await list(big, { settlement: "unknown" }, 100);
    expect(unknown.items).toHaveLength(100);
    expect(new Set(unknown.items.map(({ stage }) => stage.status))).toEqual(new Set(["unknown"]));
    const failed = await list(big, { settlement: "failed" }, 100);
    expect(new Set(failed.items.map(({ stage }) => stage.status))).toEqual(new Set(["failed"]));
  });
});
