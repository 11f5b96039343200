import { describe, expect, test } from "vitest";
import * as contract from "#lib/webhooks/contract.ts";
import { updateWebhookEndpoint } from "#lib/webhooks/update-webhook-endpoint.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import { send, type Credential } from "#test/tenant.ts";
import { changeRow, create, endpointRow, newStaleAdmin } from "#test/webhooks.ts";

useDatabase();

const update = (as: Credential, id: string, body: Record<string, unknown>) =>
  send(contract.updateWebhookEndpoint, updateWebhookEndpoint, { as, id, body });

describe("updateWebhookEndpoint", () => {
  test("changes the named fields, and records only those that differ", async () => {
    const owner = await newOrganization();
    const { data } = await create(owner, { url: "https://example.com/", description: "Ours" });
    const id = data.webhookEndpointId;
    const eventTypes = ["payment.settled"];
    expect((await update(owner.credential, id, { eventTypes, description: null })).data).toMatchObject({ eventTypes });
    await update(owner.credential, id, { eventTypes });
    const events = (await eventsAbout(id)).map(({ type, metadata }) => [type, metadata]);
    expect(events.slice(1)).toEqual([["webhookEndpoint.updated", { eventTypes, description: null }]]);
    const refused = await update(owner.credential, id, { url: "https://127.0.0.1/" });
    expect(refused.problem.errors?.[0]?.pointer).toBe("/url");
  });

  test("pausing needs no recent proof of identity; every change that sends more does", async () => {
    const owner = await newOrganization();
    const { data } = await create(owner, { url: "https://example.com/" });
    const { credential } = await newStaleAdmin(owner.organizationId);
    const codeOf = async (body: Record<string, unknown>) => (await update(credential, data.webhookEndpointId, body)).problem.code;
    expect((await update(credential, data.webhookEndpointId, { status: "paused" })).data.status).toBe("paused");
    for (const body of [{ status: "enabled" }, { url: "https://example.org/" }, { eventTypes: ["payment.*"] }, { full: true }])
      expect(await codeOf(body)).toBe("step_up_required");
  });

  test("an endpoint that was disabled gets the full time again when it is enabled", async () => {
    const owner = await newOrganization();
    const { data } = await create(owner, { url: "https://example.com/" });
    const id = data.webhookEndpointId;
    await changeRow(id, { status: "disabled", disabledReason: "Gone.", failingSince: new Date(0) });
    const enabled = (await update(owner.credential, id, { status: "enabled" })).data;
    expect(enabled).toMatchObject({ status: "enabled", sequence: data.sequence });
    expect(await endpointRow(id)).toMatchObject({ disabledReason: null, failingSince: null });
  });
});
