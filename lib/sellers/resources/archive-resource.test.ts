import { beforeAll, describe, expect, it } from "vitest";
import { archiveResource } from "#lib/sellers/resources/archive-resource.ts";
import * as contract from "#lib/sellers/contract.ts";
import { getResource } from "#lib/sellers/resources/get-resource.ts";
import { upsertPaidResource } from "#lib/sellers/resources/upsert-paid-resource.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { newSeller } from "#test/sellers.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let organizationId: string;
let as: Credential;
beforeAll(async () => {
  organizationId = await createOrganization();
  as = (await createPerson(organizationId)).credential;
});

type More = { as?: Credential; body?: unknown; key?: string };
const archive = (id: string, more: More = {}) => send(contract.archiveResource, archiveResource, { as, id, ...more });
const get = (id: string) => send(contract.getResource, getResource, { as, id });

describe("archiveResource", () => {
  it("200 removes the resource from every read, and writes its event", async () => {
    const shop = await newSeller(as, { resourceId: "old" });
    const { status, data } = await archive("old");
    expect([status, data]).toEqual([200, shop.resource]);
    expect((await get("old")).status).toBe(404);
    expect((await eventsAbout("old")).map(({ type }) => type)).toEqual(["resource.upserted", "resource.archived"]);
  });

  it("200 again for an archived resource", async () => {
    expect((await archive("old")).status).toBe(200);
  });

  it("200 restores a resource when it is saved again", async () => {
    const shop = await newSeller(as, { resourceId: "back" });
    await archive("back");
    const { resourceId: _, ...body } = shop.resource;
    await send(contract.upsertPaidResource, upsertPaidResource, { as, id: "back", body });
    expect((await get("back")).data).toEqual({ ...shop.resource, payToProven: false });
  });

  it("400 asks for the seller if two of them use the id", async () => {
    const one = await newSeller(as, { resourceId: "twice" });
    const two = await newSeller(as, { resourceId: "twice" });
    expect((await archive("twice")).problem.errors?.[0]?.pointer).toBe("/sellerId");
    expect((await archive("twice", { body: { sellerId: one.sellerId } })).status).toBe(200);
    expect((await get("twice")).data).toEqual({ ...two.resource, payToProven: false });
  });

  it("403 without resources:manage", async () => {
    const agent = await createAgent(organizationId, ["sellers:read"]);
    expect((await archive("twice", { as: agent.credential })).status).toBe(403);
  });

  it("404 hides a resource of another organization", async () => {
    await newSeller(as, { resourceId: "mine" });
    const other = (await createPerson(await createOrganization())).credential;
    expect((await archive("mine", { as: other })).status).toBe(404);
    expect((await get("mine")).status).toBe(200);
  });

  it("a repeat with the same idempotency key gets the first reply and writes no second event", async () => {
    await newSeller(as, { resourceId: "keyed" });
    const first = await archive("keyed", { key: "a" });
    const again = await archive("keyed", { key: "a" });
    expect(JSON.stringify(again.data)).toBe(JSON.stringify(first.data));
    expect(await eventsAbout("keyed")).toHaveLength(2);
  });
});
