import { beforeAll, describe, expect, it } from "vitest";
import * as contract from "#lib/sellers/contract.ts";
import { listResources } from "#lib/sellers/resources/list-resources.ts";
import { useDatabase } from "#test/database.ts";
import { newSeller } from "#test/sellers.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let as: Credential;
beforeAll(async () => {
  as = (await createPerson(await createOrganization())).credential;
});

const list = (query: string, more: { as?: Credential } = {}) =>
  send(contract.listResources, listResources, { as, query, ...more });

describe("listResources", () => {
  it("pages through all resources, newest first, each once", async () => {
    const owner = (await createPerson(await createOrganization())).credential;
    const made: string[] = [];
    for (const resourceId of ["a", "b:1", "c", `d${"x".repeat(127)}`, "e"]) {
      await newSeller(owner, { resourceId });
      made.unshift(resourceId);
    }
    const seen: string[] = [];
    let query = "?limit=2";
    for (;;) {
      const { data } = await list(query, { as: owner });
      seen.push(...data.items.map(({ resourceId }) => resourceId));
      if (!data.hasMore) break;
      query = `?limit=2&cursor=${data.nextCursor}`;
    }
    expect(seen).toEqual(made);
  });

  it("shows nothing of other organizations, and only the resources of one seller if the query names it", async () => {
    const owner = (await createPerson(await createOrganization())).credential;
    expect((await list("", { as: owner })).data).toEqual({ items: [], hasMore: false });
    const shop = await newSeller(owner);
    await newSeller(owner);
    expect((await list(`?sellerId=${shop.sellerId}`, { as: owner })).data.items).toEqual([
      { ...shop.resource, payToProven: false },
    ]);
  });

  it.each([
    ["/query/limit", "?limit=0"],
    ["/query/limit", "?limit=101"],
    ["/query/cursor", "?cursor=abc"],
    ["/query/page", "?page=2"],
  ])("400 points at %s of %s", async (pointer, query) => {
    const { status, problem } = await list(query);
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, pointer]);
  });
});
