import { beforeAll, describe, expect, test } from "vitest";
import * as contract from "#lib/search/contract.ts";
import { searchOrganization } from "#lib/search/search-organization.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, authorize, createBuyer, policy, type Buyer } from "#test/mandates.ts";
import { newIntent, post, storedOf } from "#test/asking.ts";
import { newSeller } from "#test/sellers.ts";
import { createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let buyer: Buyer;
let mandateId: string;
let authorizationId: string | undefined;
let own: Awaited<ReturnType<typeof newSeller>>;
beforeAll(async () => {
  buyer = await createBuyer();
  mandateId = await activeMandate(buyer.person.credential, { name: "Lab supplies 100%" });
  ({ authorizationId } = await authorize(buyer, mandateId));
  own = await newSeller(buyer.person.credential, { resourceId: "lab-report" });
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

  test("200 finds a payee by a part of its domain, also if every payment to it was refused", async () => {
    const refusing = await activeMandate(buyer.person.credential, {
      policy: { ...policy, sellers: { deny: [buyer.resource.sellerId] } },
    });
    const { authorizationId: refused } = await authorize(buyer, refusing);
    expect(refused).toBeDefined();
    expect((await search(buyer.resource.domain.slice(0, -4))).data.items).toEqual([
      { type: "payee", id: buyer.resource.domain, name: buyer.resource.domain, status: "asked" },
    ]);
  });

  test("200 finds an agent and a member by a part of the name or by id, and a member by e-mail address", async () => {
    const { serviceAccountId } = buyer.agent;
    const agent = { type: "agent", id: serviceAccountId, name: "Agent", status: "active" };
    expect((await search("age")).data.items).toEqual([agent]);
    expect((await search(serviceAccountId)).data.items).toEqual([agent]);
    const { userId } = buyer.person;
    const member = { type: "member", id: userId, name: "Ada", status: "owner" };
    for (const q of ["ada", userId, `${userId}@example.com`]) expect((await search(q)).data.items).toContainEqual(member);
  });

  test("200 finds a request for approval by id and payee, and its payment by the request's id and the idempotency key", async () => {
    const asking = await activeMandate(buyer.person.credential, { policy: { ...policy, approval: { mode: "always" } } });
    const intent = newIntent(buyer);
    const { data } = await post({ mandateId: asking, intent }, buyer.agent.credential);
    const { authorizationId: waiting } = data;
    const checkoutIntentId = (await storedOf(waiting))?.checkoutIntentId ?? "";
    const request = {
      type: "request",
      id: checkoutIntentId,
      name: `0.50 USDC to ${buyer.resource.domain}`,
      status: "awaiting_approval",
    };
    const payment = { type: "payment", id: waiting, name: buyer.resource.domain, status: "requireApproval" };
    expect((await search(checkoutIntentId)).data.items).toEqual([request, payment]);
    expect((await search(buyer.resource.domain)).data.items).toContainEqual(request);
    expect((await search(intent.idempotencyKey)).data.items).toEqual([payment]);
  });

  test("200 finds the organization's own seller by its domain", async () => {
    expect((await search(own.domain)).data.items).toEqual([{ type: "seller", id: own.sellerId, name: "Shop", status: "live" }]);
  });

  test("% and _ are no wildcards", async () => {
    expect(await idsOf("100%")).toEqual([mandateId]);
    expect(await idsOf("%%")).toEqual([]);
    expect(await idsOf("__")).toEqual([]);
  });

  test("shows nothing of another organization, by name or by id", async () => {
    const { userId } = buyer.person;
    const texts = ["lab", mandateId, "lab-report", buyer.resource.domain, buyer.agent.serviceAccountId, userId, own.domain];
    for (const q of [...texts, authorizationId ?? ""]) expect(await idsOf(q, buyer.foreign)).toEqual([]);
  });

  test("leaves out what the person's role cannot read", async () => {
    const { credential } = await createPerson(buyer.organizationId, "finance");
    expect(await idsOf("lab", credential)).toEqual([]);
    expect(await idsOf(buyer.agent.serviceAccountId, credential)).toEqual([]);
    expect(await idsOf(own.domain, credential)).toEqual([]);
    expect(await idsOf(authorizationId ?? "", credential)).toEqual([authorizationId]);
    expect(await idsOf(buyer.resource.domain, credential)).toEqual([buyer.resource.domain]);
  });

  test.each(["", "a", " a ", "x".repeat(129)])("400 points at %j", async (q) => {
    const { status, problem } = await search(q);
    expect(status).toBe(400);
    expect(problem.errors).toMatchObject([{ pointer: "/query/q" }]);
  });
});
