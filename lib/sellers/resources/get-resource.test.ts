import { beforeAll, describe, expect, it } from "vitest";
import * as contract from "#lib/sellers/contract.ts";
import { getResource } from "#lib/sellers/resources/get-resource.ts";
import { useDatabase } from "#test/database.ts";
import { newSeller } from "#test/sellers.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let organizationId: string;
let as: Credential;
beforeAll(async () => {
  organizationId = await createOrganization();
  as = (await createPerson(organizationId, "viewer")).credential;
});

const get = (id: string, more: { as?: Credential; query?: string } = {}) =>
  send(contract.getResource, getResource, { as, id, ...more });

describe("getResource", () => {
  it("400 asks for the seller if two of them use the id", async () => {
    const owner = (await createPerson(organizationId)).credential;
    const one = await newSeller(owner, { resourceId: "double" });
    await newSeller(owner, { resourceId: "double" });
    expect((await get("double")).problem.errors?.[0]?.pointer).toBe("/query/sellerId");
    expect((await get("double", { query: `?sellerId=${one.sellerId}` })).data).toEqual({ ...one.resource, payToProven: false });
  });

  it("403 without sellers:read, 404 for a resource of another organization", async () => {
    const agent = await createAgent(organizationId, ["resources:manage"]);
    expect((await get("double", { as: agent.credential })).status).toBe(403);
    const other = (await createPerson(await createOrganization())).credential;
    expect((await get("double", { as: other })).status).toBe(404);
  });
});
