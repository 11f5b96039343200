import { describe, expect, test } from "vitest";
import * as contract from "#lib/alerts/contract.ts";
import { setMandateAlerts } from "#lib/alerts/set-mandate-alerts.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer } from "#test/mandates.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

const set = (as: Credential, id: string, thresholds: unknown, key?: string) =>
  send(contract.setMandateAlerts, setMandateAlerts, { as, id, body: { thresholds }, ...(key !== undefined && { key }) });

describe("setMandateAlerts", () => {
  test("saves the thresholds in rising order, once per key, with an event", async () => {
    const { person } = await createBuyer();
    const mandateId = await activeMandate(person.credential);
    const first = await set(person.credential, mandateId, [90, 50], "once");
    expect(first.data).toEqual({ mandateId, thresholds: [50, 90] });
    expect((await set(person.credential, mandateId, [90, 50], "once")).data).toEqual(first.data);
    expect((await set(person.credential, mandateId, [])).data).toEqual({ mandateId, thresholds: [] });
    const events = (await eventsAbout(mandateId)).filter(({ type }) => type === "mandate.alertsUpdated");
    expect(events.map(({ metadata }) => metadata)).toEqual([{ thresholds: [50, 90] }, { thresholds: [] }]);
  });

  test("400 for thresholds that are no percentages, 403 for an API key and a viewer, 404 for another organization", async () => {
    const buyer = await createBuyer();
    const mandateId = await activeMandate(buyer.person.credential);
    for (const wrong of [[0], [101], [80, 80], [1.5], [10, 20, 30, 40, 50, 60]])
      expect((await set(buyer.person.credential, mandateId, wrong)).problem.errors?.[0]?.pointer).toMatch(/^\/thresholds/);
    const agent = await createAgent(buyer.organizationId, ["mandates:manage"]);
    const viewer = await createPerson(buyer.organizationId, "viewer");
    for (const { credential } of [agent, viewer]) expect((await set(credential, mandateId, [80])).status).toBe(403);
    const stranger = await createPerson(await createOrganization());
    expect((await set(stranger.credential, mandateId, [80])).status).toBe(404);
  });
});
