import { beforeAll, describe, expect, test } from "vitest";
import * as contract from "#lib/search/contract.ts";
import { searchOrganization } from "#lib/search/search-organization.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer, type Buyer } from "#test/mandates.ts";
import { newSeller } from "#test/sellers.ts";
import { createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let buyer: Buyer;
let mandateId: string;
let authorizationId: string | undefined;
beforeAll(async () => {
  buyer = await createBuyer();
  mandateId = await activeMandate(buyer.person.credential, { name: "Lab supplies 100%" });
  ({ authorizationId } = await authorize(buyer, mandateId));
  await newSeller(buyer.person.credential, { resourceId: "lab-report" });
});

const search = (q: string, as: Credential = buyer.person.credential) =>
  send(contract.searchOrganization, searchOrganization, { as, query: `?q=${encodeURIComponent(q)}` });
const idsOf = async (q: string, as?: Credential) => (await search(q, as)).data.items.map(({ id }) => id);

describe("searchOrganization", () => {
  test("200 finds a mandate and a resource by a part of the name, in any case", async () => {
    expect((await search("LAB")).data.items).toEqual([
      { type: "mandate", id: mandateId, name: "Lab supplies 100%", status: "active" },
      expect.objectContaining({ type: "resource", id: "lab-report", sellerId: expect.stringMatching(/^sel_/) as string }),
    ]);
  });

  test("200 finds by id", async () => {
    expect(await idsOf(mandateId)).toEqual([mandateId]);
    expect((await search(authorizationId ?? "")).data.items).toMatchObject([
      { type: "payment", id: authorizationId, status: "allow" },
    ]);
  });

  test("% and _ are no wildcards", async () => {
    expect(await idsOf("100%")).toEqual([mandateId]);
    expect(await idsOf("%%")).toEqual([]);
    expect(await idsOf("__")).toEqual([]);
  });

  test("shows nothing of another organization, by name or by id", async () => {
    for (const q of ["lab", mandateId, authorizationId ?? "", "lab-report"]) expect(await idsOf(q, buyer.foreign)).toEqual([]);
  });

  test("leaves out what the person's role cannot read", async () => {
    const { credential } = await createPerson(buyer.organizationId, "finance");
    expect(await idsOf("lab", credential)).toEqual([]);
    expect(await idsOf(authorizationId ?? "", credential)).toEqual([authorizationId]);
  });

  test.each(["", "a", " a ", "x".repeat(129)])("400 points at %j", async (q) => {
    const { status, problem } = await search(q);
    expect(status).toBe(400);
    expect(problem.errors).toMatchObject([{ pointer: "/query/q" }]);
  });
});
