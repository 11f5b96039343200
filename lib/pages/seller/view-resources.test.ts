import { sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { archiveResource } from "#lib/sellers/resources/archive-resource.ts";
import * as contract from "#lib/sellers/contract.ts";
import { listOwnSellers } from "#lib/sellers/store.ts";
import { filterResources, findOwnResource } from "#lib/sellers/resource-store.ts";
import type { Scope } from "#lib/settlement/received-store.ts";
import { viewResource, viewResources } from "#lib/pages/seller/view-resources.ts";
import { SELLERS_SHOWN, viewSellers } from "#lib/pages/seller/view-sellers.ts";
import { database } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import { planOf } from "#test/plan.ts";
import { newSeller } from "#test/sellers.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const shopOwner = () => newOrganization({ productRoles: ["seller"] });
const scopeOf = ({ organizationId }: { readonly organizationId: string }): Scope => ({ organizationId, environment: "sandbox" });

describe("the seller's resources", () => {
  test("are found by a part of path, description or id, without wildcards", async () => {
    const owner = await shopOwner();
    await newSeller(owner.credential, { resourceId: "daily", pathTemplate: "/reports/daily" });
    await newSeller(owner.credential, { resourceId: "other", pathTemplate: "/other" });
    const found = async (search: string) =>
      (await viewResources(scopeOf(owner), { archived: false, search, limit: 20 })).items.map(({ resourceId }) => resourceId);
    expect(await found("REPORTS")).toEqual(["daily"]);
    expect(await found("oth")).toEqual(["other"]);
    expect(await found("%")).toEqual([]);
  });

  test("that are archived are in a separate list, and can be opened", async () => {
    const owner = await shopOwner();
    const { sellerId } = await newSeller(owner.credential, { resourceId: "old" });
    await send(contract.archiveResource, archiveResource, { as: owner.credential, id: "old", body: { sellerId } });
    const ids = async (archived: boolean) =>
      (await viewResources(scopeOf(owner), { archived, limit: 20 })).items.map(({ resourceId }) => resourceId);
    expect(await ids(false)).toEqual([]);
    expect(await ids(true)).toEqual(["old"]);
    expect(await viewResource(scopeOf(owner), sellerId, "old")).toMatchObject({ archived: true, seller: { sellerId } });
  });

  test("are 404 for another organization", async () => {
    const [owner, other] = [await shopOwner(), await shopOwner()];
    const { sellerId } = await newSeller(owner.credential, { resourceId: "mine" });
    await expect(viewResource(scopeOf(other), sellerId, "mine")).rejects.toMatchObject({ code: "not_found" });
    expect((await viewResources(scopeOf(other), { archived: false, limit: 20 })).items).toEqual([]);
    expect(await viewSellers(scopeOf(other))).toEqual({ sellers: [], more: false });
  });

  test("have a seller with the text to publish for its domain", async () => {
    const owner = await shopOwner();
    const { sellerId, domain } = await newSeller(owner.credential);
    const {
      sellers: [seller],
    } = await viewSellers(scopeOf(owner));
    expect(seller).toMatchObject({
      sellerId,
      verified: false,
      proof: {
        token: expect.stringMatching(/^countersign-domain=/),
        url: `https://${domain}/.well-known/countersign.txt`,
        dnsName: `_countersign.${domain}`,
      },
    });
  });

  test("say that there are more sellers than are shown", async () => {
    const owner = await shopOwner();
    const add = (first: number, last: number) =>
      database().execute(sql`
        INSERT INTO sellers (seller_id, organization_id, environment, name, domain, minimum_assurance_level)
        SELECT ${owner.organizationId} || n, ${owner.organizationId}, 'sandbox', 'S', ${owner.organizationId} || n, 'softwareApproved'
        FROM generate_series(${first}::int, ${last}::int) n`);
    await add(1, SELLERS_SHOWN);
    expect((await viewSellers(scopeOf(owner))).more).toBe(false);
    await add(SELLERS_SHOWN + 1, SELLERS_SHOWN + 1);
    const { sellers, more } = await viewSellers(scopeOf(owner));
    expect([sellers.length, more]).toEqual([SELLERS_SHOWN, true]);
  });

  test("are read by index among 20,000 of 200 organizations", async () => {
    await database().execute(sql`
      INSERT INTO resources (seller_id, resource_id, organization_id, method, path_template, pricing, configuration_source,
        accepted_payment_challenge_types, minimum_assurance_level)
      SELECT 'sel_' || n % 200, 'r' || n, 'org_' || n % 200, 'GET', '/r' || n, '{}', 'api', '{x402}', 'softwareApproved'
      FROM generate_series(1, 20000) n`);
    await database().execute(sql`
      INSERT INTO sellers (seller_id, organization_id, environment, name, domain, minimum_assurance_level)
      SELECT 'sel_' || n, 'org_' || n % 200, 'sandbox', 'S', 'd' || n, 'softwareApproved' FROM generate_series(1, 20000) n`);
    const which = { organizationId: "org_7", archived: false, search: "r" };
    expect(await planOf(filterResources(database(), which, null, 21), ["resources"])).toMatchObject({ whole: [] });
    expect(await planOf(listOwnSellers(database(), "sandbox", "org_7", 201), ["sellers"])).toMatchObject({ whole: [] });
    expect(await findOwnResource(database(), { organizationId: "org_8", sellerId: "sel_7", resourceId: "r7" })).toBeNull();
  });
});
