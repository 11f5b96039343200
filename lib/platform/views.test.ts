import { describe, expect, test } from "vitest";
import { assignSubscription } from "#lib/billing/assign-subscription.ts";
import * as billing from "#lib/billing/contract.ts";
import { viewOrganizations, viewAllSellers } from "#lib/pages/admin/view-directory.ts";
import { viewHealth } from "#lib/pages/admin/view-health.ts";
import { viewTarget } from "#lib/pages/admin/view-targets.ts";
import { viewUser, viewUsers } from "#lib/pages/admin/view-users.ts";
import { noteRun } from "#lib/installation/worker-runs.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { unknownExecution } from "#test/executions.ts";
import { newOrganization, signIn } from "#test/identity.ts";
import { createOfficial, endSessionsOf, REASON, stopNow } from "#test/platform.ts";
import { newSeller } from "#test/sellers.ts";
import { send } from "#test/tenant.ts";

useDatabase();

describe("the read models of the pages", () => {
  test("shows a person with organizations and valid sessions, and events only with the right to read the audit log", async () => {
    const person = await newOrganization({ name: "Larkfield" });
    await signIn(person.email);
    const support = await createOfficial("support");
    const [line] = (await viewUsers({ limit: 5, search: person.email })).items;
    expect(line).toMatchObject({ organizations: ["Larkfield"], sessions: 2 });
    await endSessionsOf(support, person.userId);
    const view = await viewUser(person.userId, true);
    expect([view.sessions, view.memberships[0]?.role]).toEqual([[], "owner"]);
    expect(view.events?.[0]).toMatchObject({ type: "session.revoked", metadata: { reason: REASON } });
    expect((await viewUser(person.userId, false)).events).toBeNull();
    await expect(viewUser("usr_none", true)).rejects.toThrow("There is no such user.");
  });

  test("finds organizations by the start of name or slug, with plan and members", async () => {
    const owner = await newOrganization({ name: "Quartz & Co" });
    const admin = await createOfficial("admin");
    const body = { organizationId: owner.organizationId, tier: "team", metadata: { reason: REASON } };
    const { data } = await send(billing.assignSubscription, assignSubscription, { as: admin.credential, body });
    expect((await eventsAbout(data.subscriptionId))[0]?.metadata).toMatchObject({ reason: REASON });
    for (const search of ["QUARTZ", "quartz-c", owner.organizationId])
      expect((await viewOrganizations({ search })).items).toMatchObject([{ name: "Quartz & Co", tier: "team", members: 1 }]);
    expect((await viewOrganizations({ search: "uartz" })).items).toEqual([]);
  });

  test("an emergency page shows what it would stop and which payments are already submitted", async () => {
    const { executionId, mandateId, agentId } = await unknownExecution();
    const mandate = await viewTarget("sandbox", { kind: "mandate", id: mandateId });
    expect(mandate).toMatchObject({
      facts: { name: "Test", state: "active" },
      held: [{ count: 1, amount: "0.5", asset: "USDC" }],
    });
    expect(mandate.underWay).toMatchObject([{ executionId, status: "unknown" }]);
    expect((await viewTarget("sandbox", { kind: "agent", id: agentId })).facts).toMatchObject({ keys: 1, state: "active" });
    expect((await viewTarget("sandbox", { kind: "seller", id: "sel_none" })).facts).toBeNull();
    expect((await viewTarget("production", { kind: "mandate", id: mandateId })).facts).toBeNull();
    const { data } = await stopNow(await createOfficial("operator"), { mandateId });
    expect(data.auditEvent.metadata["submittedExecutions"]).toEqual([executionId]);
  });

  test("a stopped seller is not in the list of sellers to verify", async () => {
    const owner = await newOrganization({ productRoles: ["seller"] });
    const { sellerId } = await newSeller(owner.credential);
    const ids = async (state: "unverified" | "stopped") =>
      (await viewAllSellers("sandbox", { state })).items.map((one) => one.sellerId);
    expect(await ids("unverified")).toContain(sellerId);
    await stopNow(await createOfficial("operator"), { sellerId });
    expect([(await ids("unverified")).includes(sellerId), await ids("stopped")]).toEqual([false, [sellerId]]);
  });
});

describe("health", () => {
  test("an unknown outcome is listed with its last finding", async () => {
    const { executionId } = await unknownExecution();
    const line = (await viewHealth()).unknown.find((one) => one.executionId === executionId);
    expect(line).toMatchObject({ failureDetail: "No answer came.", amount: "0.5", attempts: 0 });
  });

  test("a worker's run is stored at once when it fails or works again", async () => {
    const failing = async () => (await viewHealth()).runs.find(({ worker }) => worker === "sweep")?.failing;
    await noteRun("sweep", false);
    expect(await failing()).toBe(false);
    await noteRun("sweep", true);
    expect(await failing()).toBe(true);
    await noteRun("sweep", false);
    expect(await failing()).toBe(false);
  });
});
