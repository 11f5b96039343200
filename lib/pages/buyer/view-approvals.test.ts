import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { selectDecided, selectWaiting } from "#lib/pages/buyer/approvals/page-store.ts";
import { viewDecided, viewWaiting, waitingCount } from "#lib/pages/buyer/view-approvals.ts";
import { database } from "#lib/db/client.ts";
import { firstIdAt, newId } from "#lib/ids.ts";
import { reading } from "#lib/mandates/store.ts";
import { isProblem } from "#lib/problem.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer, policy, type Buyer } from "#test/mandates.ts";
import { planOf } from "#test/plan.ts";
import { record, useRecording } from "#test/recording.ts";

useDatabase();
const recording = useRecording();

let buyer: Buyer;
let mandateId: string;
const scopeOf = ({ organizationId }: { readonly organizationId: string }) => ({ organizationId, environment: "sandbox" });

/** Inserts a checkout as previewCheckout makes it. It expires in `minutes` minutes. */
async function insertOpen(
  organizationId: string,
  minutes: number,
  { status = "previewed", id = newId("checkoutIntent") } = {},
): Promise<string> {
  const basket = { lines: [{ productId: "tee", name: "Tee", quantity: 2, unitAmount: "5" }] };
  await database().execute(sql`
    INSERT INTO checkout_intents (checkout_intent_id, organization_id, environment, owner_subject_id, domain, storefront_url,
      mandate_status, canonical_basket, basket_hash, amount, asset, chain, pay_to, token_address, token_decimals,
      creates_fulfillment_order, status, expires_at)
    VALUES (${id}, ${organizationId}, 'sandbox', 'sa_gone', 'tees.example', 'https://tees.example', 'no_mandate',
      ${JSON.stringify(basket)}, ${id}, 10000000, 'USDC', 'eip155:84532', '0x1', '0x2', 6, true, ${status},
      clock_timestamp() + make_interval(mins => ${minutes}))`);
  return id;
}

beforeAll(async () => {
  buyer = await createBuyer();
  mandateId = await activeMandate(buyer.person.credential, {
    name: "Lab supplies",
    policy: { ...policy, approval: { mode: "above", amount: "0.25" } },
  });
});

describe("requests that wait for a decision", () => {
  test("show agent, payee, amount, purpose and expiry; the first to expire comes first", async () => {
    await authorize(buyer, mandateId);
    const soon = await insertOpen(buyer.organizationId, 2);
    const { items, more, now } = await viewWaiting(scopeOf(buyer));
    expect(items).toMatchObject([
      {
        checkoutIntentId: soon,
        domain: "tees.example",
        amount: "10.00 USDC",
        asker: { name: "sa_gone" },
        why: "an order of 2 items",
      },
      {
        domain: buyer.resource.domain,
        amount: "0.50 USDC",
        asker: { name: "Agent", isServiceAccount: true },
        mandate: "Lab supplies",
        why: "asks above 0.25 USDC",
      },
    ]);
    expect(more).toBe(false);
    expect(Date.parse(items[0]?.expiresAt ?? "")).toBeGreaterThan(Date.parse(now));
    expect(await waitingCount(scopeOf(buyer))).toBe(2);
  });

  test("name the rule that asked, also if the approval rule does not ask", async () => {
    const other = await createBuyer();
    const passkey = { ...policy, approval: { mode: "never" as const }, minimumAssuranceLevel: "passkeyApproved" as const };
    await authorize(other, await activeMandate(other.person.credential, { policy: passkey }));
    expect((await viewWaiting(scopeOf(other))).items.map(({ why }) => why)).toEqual(["asks for a passkey"]);
  });

  test("are at most as many as the limit, and the page says that there are more", async () => {
    const { items, more } = await viewWaiting(scopeOf(buyer), 1);
    expect(items).toHaveLength(1);
    expect(more).toBe(true);
  });

  test("are only those of the organization that have not expired", async () => {
    const other = await createBuyer();
    const over = await insertOpen(other.organizationId, -1);
    expect((await viewWaiting(scopeOf(other))).items).toEqual([]);
    expect(await waitingCount(scopeOf(other))).toBe(0);
    const { items } = await viewDecided(scopeOf(other), { cursor: undefined, limit: 20 });
    expect(items).toMatchObject([{ checkoutIntentId: over, status: "expired" }]);
    expect(items[0]).not.toHaveProperty("decided");
  });
});

test("payments that are made elsewhere wait for a person until they are closed, if they ask", async () => {
  const { at, mandateFor, allowed } = recording;
  const scope = scopeOf(at.buyer);
  const id = await allowed(await mandateFor("100"), "50");
  expect(await waitingCount(scope)).toBe(0);
  await record(at.agent, id, "partlyPaid", "60");
  expect((await viewWaiting(scope)).asking).toMatchObject([
    { authorizationId: id, asks: "exceeded", payee: "Ink and Co", amount: "50.00 USD", paid: "60.00 USD", mandate: "Test" },
  ]);
  expect(await waitingCount(scope)).toBe(1);
  expect((await viewWaiting(scopeOf(buyer))).asking).toEqual([]);
  expect((await record(at.keeper, id, "notPaid", "0")).status).toBe(200);
  expect((await viewWaiting(scope)).asking).toEqual([]);
  expect(await waitingCount(scope)).toBe(0);
});

describe("decided requests", () => {
  test("are newest first, page by page", async () => {
    const other = await createBuyer();
    const made: string[] = [];
    for (const status of ["rejected", "completed", "canceled"]) {
      // Ids that are made in the same millisecond are in no order, so give each id a different time.
      const id = firstIdAt("checkoutIntent", new Date(Date.now() + made.length * 1_000));
      made.push(await insertOpen(other.organizationId, 5, { status, id }));
    }
    await database().execute(sql`
      INSERT INTO checkout_approvals (approval_id, checkout_intent_id, organization_id, status, approved_at, approved_by_subject_id,
        agent_id, approval_surface, approved_basket_hash, approved_amount, approved_asset, approved_chain, approved_pay_to, expires_at)
      VALUES (${newId("approval")}, ${made[0]}, ${other.organizationId}, 'rejected', clock_timestamp(), ${other.person.userId},
        'sa_gone', 'service_hosted_confirmation', 'x', 1, 'USDC', 'eip155:84532', '0x1', clock_timestamp())`);
    const first = await viewDecided(scopeOf(other), { cursor: undefined, limit: 2 });
    expect(first.items.map(({ status }) => status)).toEqual(["canceled", "completed"]);
    const second = await viewDecided(scopeOf(other), { cursor: first.nextCursor, limit: 2 });
    expect(second).toMatchObject({ hasMore: false, items: [{ status: "rejected", decided: { by: "Ada" } }] });
  });

  test("refuse an invalid cursor", async () => {
    const refused = await viewDecided(scopeOf(buyer), { cursor: "nonsense", limit: 2 }).catch((error: unknown) => error);
    expect(isProblem(refused) && refused.code).toBe("invalid_request");
  });
});

describe("among 20,000 checkouts of 200 organizations", () => {
  beforeAll(async () => {
    await database().execute(sql`
      INSERT INTO checkout_intents (checkout_intent_id, organization_id, environment, owner_subject_id, domain, storefront_url,
        mandate_status, canonical_basket, basket_hash, amount, asset, chain, pay_to, token_address, token_decimals,
        creates_fulfillment_order, status, expires_at)
      SELECT 'cki_' || lpad(n::text, 26, '0'), 'org_' || n % 200, 'sandbox', 'sa_x', 'a.example', 'https://a.example', 'no_mandate',
        '{"lines":[]}', n::text, 1, 'USDC', 'eip155:84532', '0x1', '0x2', 6, true,
        CASE n % 20 WHEN 0 THEN 'awaiting_approval' ELSE 'completed' END, clock_timestamp() + interval '5 minutes'
      FROM generate_series(1, 20000) n`);
  });

  test("both lists are read by index", async () => {
    await reading(async (tx, now) => {
      const scope = { organizationId: "org_20", environment: "sandbox" };
      const waiting = await planOf(selectWaiting(tx, scope, now, 51), ["checkout_intents"]);
      expect(waiting.whole).not.toContain("checkout_intents");
      expect(waiting.indexes).toContain("checkout_intents_waiting");
      const decided = await planOf(selectDecided(tx, scope, now, 21, "cki_9"), []);
      expect(decided.whole).not.toContain("checkout_intents");
      expect(decided.indexes).toContain("checkout_intents_of_organization");
    });
  });
});
