import { sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/mandates/contract.ts";
import { sumRecords } from "#lib/holds/record-store.ts";
import { reading } from "#lib/mandates/store.ts";
import { selectSteps } from "#lib/pages/buyer/mandates/page-store.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { cardSums } from "#lib/pages/buyer/spending/insight-store.ts";
import { viewMandate } from "#lib/pages/buyer/view-mandate.ts";
import { isProblem } from "#lib/problem.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer, policy, type Buyer } from "#test/mandates.ts";
import { newId, request, transaction, useCards } from "#test/cards.ts";
import { record, USD, useRecording } from "#test/recording.ts";
import { planOf } from "#test/plan.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const recording = useRecording();
const cards = useCards();

const scopeOf = ({ organizationId }: Pick<Buyer, "organizationId">) => ({ organizationId, environment: "sandbox" });

describe("the page of a mandate", () => {
  test("lists each event with its person and reason, and each version's policy", async () => {
    const buyer = await createBuyer();
    const as = buyer.person.credential;
    const agents = [buyer.agent.serviceAccountId];
    const id = await activeMandate(as, { agents });
    const changed = { ...policy, limits: { ...policy.limits, perPayment: "2" } };
    await send(contract.updateMandate, updateMandate, { as, id, body: { policy: changed } });
    await send(contract.suspendMandate, suspendMandate, { as, id, body: { reason: "The agent is being updated." } });
    const { mandate, names, history } = await viewMandate(scopeOf(buyer), id);
    expect(mandate).toMatchObject({ status: "suspended", version: 2 });
    expect(names[agents[0] ?? ""]).toBe("Agent");
    expect(history.map(({ type, by, version, reason }) => [type, by, version, reason])).toEqual([
      ["mandate.suspended", "Ada", 2, "The agent is being updated."],
      ["mandate.versioned", "Ada", 2, null],
      ["mandate.activated", "Ada", 1, null],
      ["mandate.created", "Ada", 1, null],
    ]);
    expect(history.map((one) => one.policy?.limits.perPayment)).toEqual([undefined, "2", undefined, "1"]);
  });

  test("says what a revocation would affect", async () => {
    const buyer = await createBuyer();
    const id = await activeMandate(buyer.person.credential, {
      policy: { ...policy, approval: { mode: "above", amount: "0.4" } },
    });
    await authorize(buyer, id, "0.5");
    const { effect } = await viewMandate(scopeOf(buyer), id);
    expect(effect).toEqual({ reserved: "0.5", kept: "0", submitted: 0, waiting: 1 });
  });

  test("says what went over which rail, and what a revocation keeps", async () => {
    const usdc = { ...policy.assets[0]!, counts: "1" };
    const both = { assets: [{ ...USD, counts: "1" }, usdc], rails: ["x402", "record"] };
    const { buyer, agent } = recording.at;
    const id = await recording.mandateFor("100", { ...both, sellers: { unregistered: "allow" } });
    const invoice = await recording.allowed(id, "50");
    await record(agent, invoice, "partlyPaid", "20");
    const { policyDecision } = await authorize(buyer, id);
    expect(policyDecision.outcome).toBe("allow");
    const { rails, effect } = await viewMandate(scopeOf(buyer), id);
    expect(rails).toEqual([
      { rail: "x402", spent: "0", reserved: "0.5" },
      { rail: "record", spent: "20", reserved: "30" },
    ]);
    expect(effect).toMatchObject({ reserved: "0.5", kept: "30" });
    const alone = await recording.mandateFor("100");
    await recording.allowed(alone, "50");
    expect(await viewMandate(scopeOf(buyer), alone)).toMatchObject({ rails: [], effect: { reserved: "0", kept: "50" } });
  });

  test("says what went by card, and that a revocation keeps it", async () => {
    const usdc = { ...policy.assets[0]!, counts: "1" };
    const rails = { assets: [{ ...USD, counts: "1" }, usdc], rails: ["x402", "record", "card"] };
    const id = await cards.mandateFor("100", { ...rails, records: { payees: "any" }, sellers: { unregistered: "allow" } });
    const it = { cardId: await cards.map(id), iauth: newId("iauth") };
    await cards.send("issuing_authorization.request", request(it, 5_000));
    await cards.send("issuing_transaction.created", transaction(it, 2_000));
    expect((await authorize(cards.at.buyer, id)).policyDecision.outcome).toBe("allow");
    const view = await viewMandate(scopeOf(cards.at.buyer), id);
    expect(view.rails).toEqual([
      { rail: "x402", spent: "0", reserved: "0.5" },
      { rail: "record", spent: "0", reserved: "0" },
      { rail: "card", spent: "20", reserved: "30" },
    ]);
    expect(view.effect).toMatchObject({ reserved: "0.5", kept: "30" });
  });

  test("reads the payments made elsewhere by index", async () => {
    await database().execute(sql`
      INSERT INTO recorded_payments (authorization_id, organization_id, environment, mandate_id, reference_key, status, deadline)
      SELECT 'aut_' || n, 'org_' || n % 50, 'sandbox', 'mdt_' || n % 400, 'r' || n, 'open', now() + interval '1 day'
      FROM generate_series(1, 20000) n`);
    const plan = await planOf(sumRecords(database(), "org_7", "mdt_7"), ["recorded_payments"]);
    expect(plan.indexes).toContain("recorded_payments_reference");
    expect(plan.whole).not.toContain("recorded_payments");
  });

  test("reads the payments by card by index", async () => {
    await database().execute(sql`
      INSERT INTO card_connections (connection_id, organization_id, environment, name, secrets, created_by)
      SELECT 'ccn_' || n, 'org_' || n, 'sandbox', 'n', '{}', 'usr_1' FROM generate_series(1, 1000) n`);
    await database().execute(sql`
      INSERT INTO card_parts (authorization_id, connection_id, stripe_id, position, held, open)
      SELECT 'aut_' || n, 'ccn_' || n % 1000, 'iauth_' || n, 0, 1, 1 FROM generate_series(1, 20000) n`);
    await database().execute(sql`
      INSERT INTO changed_reservations (authorization_id, organization_id, mandate_id, status, amount, buckets, expires_at, created_at)
      SELECT 'aut_' || n, 'org_' || n % 1000, 'mdt_' || n % 1000, 'submitted', 1, '[]', now(), now() FROM generate_series(1, 20000) n`);
    const query = new PgDialect().sqlToQuery(cardSums({ organizationId: "org_7", environment: "sandbox" }, "mdt_7"));
    const plan = await planOf({ toSQL: () => query }, ["card_connections", "card_parts", "changed_reservations"]);
    expect(plan.whole).toEqual([]);
    expect(plan.indexes).toEqual(expect.arrayContaining(["card_connections_of", "card_parts_of"]));
  });

  test("404 for a mandate of another organization", async () => {
    const id = await activeMandate((await createBuyer()).person.credential);
    const refused = await viewMandate(scopeOf(await createBuyer()), id).catch((error: unknown) => error);
    expect(isProblem(refused) && refused.code).toBe("not_found");
  });

  test("reads the history by index", async () => {
    await database().execute(sql`
      INSERT INTO audit_entries (chain, sequence, audit_event_id, type, actor_id, entity_type, entity_id, metadata, hash, created_at)
      SELECT 'org_' || n % 50, n, 'aud_' || n, 'mandate.versioned', 'usr_x', 'mandate', 'mdt_' || n % 400, '{}', '', now()
      FROM generate_series(1, 20000) n`);
    const scope = { organizationId: "org_7", environment: "sandbox" };
    const plan = await reading((tx) => planOf(selectSteps(tx, scope, "mdt_7", 50), ["audit_entries"]));
    expect(plan.whole).toEqual([]);
    expect(plan.indexes).toContain("audit_entries_entity");
  });
});
