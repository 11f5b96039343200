import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/mandates/contract.ts";
import { sumRecords } from "#lib/holds/record-store.ts";
import { reading } from "#lib/mandates/store.ts";
import { selectSteps } from "#lib/pages/buyer/mandates/page-store.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { viewMandate } from "#lib/pages/buyer/view-mandate.ts";
import { isProblem } from "#lib/problem.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer, policy, type Buyer } from "#test/mandates.ts";
import { record, USD, useRecording } from "#test/recording.ts";
import { planOf } from "#test/plan.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const recording = useRecording();

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

  test("reads the payments made elsewhere by index", async () => {
    await database().execute(sql`
      INSERT INTO recorded_payments (authorization_id, organization_id, environment, mandate_id, reference_key, status, deadline)
      SELECT 'aut_' || n, 'org_' || n % 50, 'sandbox', 'mdt_' || n % 400, 'r' || n, 'open', now() + interval '1 day'
      FROM generate_series(1, 20000) n`);
    const plan = await planOf(sumRecords(database(), "org_7", "mdt_7"), ["recorded_payments"]);
    expect(plan.indexes).toContain("recorded_payments_reference");
    expect(plan.whole).not.toContain("recorded_payments");
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
