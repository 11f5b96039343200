import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { newMember, newOrganization } from "#test/identity.ts";
import { create, endpointRow, newStaleAdmin, startReceiver, type Receiver } from "#test/webhooks.ts";

useDatabase();

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.stop());

const url = "https://example.com/hook";

describe("createWebhookEndpoint", () => {
  test("shows the secret once and stores it encrypted; the endpoint gets events from its own creation on", async () => {
    const owner = await newOrganization();
    const { status, data } = await create(owner, { url, description: "Ours" }, "first");
    expect(status).toBe(201);
    expect(data).toMatchObject({ url, description: "Ours", eventTypes: [], status: "enabled" });
    expect(data.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(data.publicKey).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/);
    const row = await endpointRow(data.webhookEndpointId);
    expect(JSON.stringify(row)).not.toContain(data.secret?.slice("whsec_".length));
    const [created] = await eventsAbout(data.webhookEndpointId);
    expect(created).toMatchObject({ type: "webhookEndpoint.created", actorId: owner.userId, sequence: data.sequence + 1 });
    expect(JSON.stringify(created)).not.toContain("whsec_");
    const repeated = await create(owner, { url, description: "Ours" }, "first");
    expect([repeated.status, repeated.problem.code]).toEqual([409, "conflict"]);
    expect(JSON.stringify(repeated.problem)).not.toContain(data.secret);
  });

  test("400 points at addresses that must not be called and at types that do not exist", async () => {
    const owner = await newOrganization();
    for (const wrong of [
      "http://example.com/",
      "https://127.0.0.1/",
      "https://10.0.0.1/",
      "https://shop.internal/",
      "ftp://a.b",
      "x",
    ])
      expect((await create(owner, { url: wrong })).problem.errors?.[0]?.pointer).toBe("/url");
    for (const wrong of ["payment", "*", "payment.settled.now", ""])
      expect((await create(owner, { url, eventTypes: [wrong] })).problem.errors?.[0]?.pointer).toBe("/eventTypes/0");
    expect((await create(owner, { url: receiver.url("/here") })).status).toBe(201);
  });

  test("needs a recent proof of identity and the capability; an organization has ten endpoints at most", async () => {
    const owner = await newOrganization();
    const unproven = await newStaleAdmin(owner.organizationId);
    expect((await create(unproven, { url })).problem.code).toBe("step_up_required");
    expect((await create(await newMember(owner, "developer"), { url })).problem.code).toBe("capability_required");
    for (let at = 0; at < 10; at += 1) expect((await create(owner, { url: `${url}/${at}` })).status).toBe(201);
    expect((await create(owner, { url })).problem.detail).toContain("has 10 webhook endpoints");
  });
});
