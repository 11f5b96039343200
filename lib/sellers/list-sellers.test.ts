import { beforeAll, describe, expect, test } from "vitest";
import * as contract from "#lib/sellers/contract.ts";
import { listSellers } from "#lib/sellers/list-sellers.ts";
import { useDatabase } from "#test/database.ts";
import { newSeller } from "#test/sellers.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let as: Credential;
const made: string[] = [];
beforeAll(async () => {
  as = (await createPerson(await createOrganization())).credential;
  for (let turn = 0; turn < 3; turn += 1) made.unshift((await newSeller(as)).sellerId);
  await newSeller((await createPerson(await createOrganization())).credential);
});

const list = (query: string) => send(contract.listSellers, listSellers, { as, query });

describe("listSellers", () => {
  test("pages through the organization's own sellers, newest first, each once", async () => {
    const first = (await list("?limit=2")).data;
    expect(first.hasMore).toBe(true);
    const second = (await list(`?limit=2&cursor=${first.nextCursor}`)).data;
    expect(second.hasMore).toBe(false);
    expect([...first.items, ...second.items].map(({ sellerId }) => sellerId)).toEqual(made);
  });

  test.each([
    ["/query/limit", "?limit=0"],
    ["/query/cursor", "?cursor=abc"],
    ["/query/page", "?page=2"],
  ])("400 points at %s of %s", async (pointer, query) => {
    const { status, problem } = await list(query);
    expect(status).toBe(400);
    expect(problem.errors).toMatchObject([{ pointer }]);
  });
});
