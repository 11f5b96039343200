import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as contract from "#lib/mandates/contract.ts";
import { reading } from "#lib/mandates/store.ts";
import { selectSteps } from "#lib/pages/buyer/mandates/page-store.ts";
import { suspendMandate } from "#lib/mandates/lifecycle/suspend-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { viewMandate } from "#lib/pages/buyer/view-mandate.ts";
import { isProblem } from "#lib/problem.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer, policy, type Buyer } from "#test/mandates.ts";
import { planOf } from "#test/plan.ts";
import { send } from "#test/tenant.ts";

useDatabase();

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
    expect(effect).toEqual({ reserved: "0.5", submitted: 0, waiting: 1 });
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
