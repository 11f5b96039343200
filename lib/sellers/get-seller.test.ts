import { describe, expect, it } from "vitest";
import * as contract from "#lib/sellers/contract.ts";
import { getSeller } from "#lib/sellers/get-seller.ts";
import { useDatabase } from "#test/database.ts";
import { newSeller } from "#test/sellers.ts";
import { createAgent, createOrganization, createPerson, send } from "#test/tenant.ts";

useDatabase();

describe("getSeller", () => {
  it("200 shows a seller to every organization, without its owner", async () => {
    const owner = await createPerson(await createOrganization());
    const { sellerId, domain } = await newSeller(owner.credential);
    const stranger = await createAgent(await createOrganization(), []);
    const { status, data } = await send(contract.getSeller, getSeller, { as: stranger.credential, id: sellerId });
    expect(status).toBe(200);
    expect(data).toEqual({ sellerId, name: "Shop", domain, verified: false, minimumAssuranceLevel: "softwareApproved" });
  });

  it("401 without a credential", async () => {
    expect((await send(contract.getSeller, getSeller, { id: "sel_1" })).status).toBe(401);
  });

  it.each(["sel_unknown", "%00", "..%2Fx"])("404 for %s", async (id) => {
    const { credential } = await createPerson(await createOrganization());
    const { status, problem } = await send(contract.getSeller, getSeller, { as: credential, id });
    expect([status, problem.code]).toEqual([404, "not_found"]);
  });
});
