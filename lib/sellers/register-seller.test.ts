import { beforeAll, describe, expect, it } from "vitest";
import * as contract from "#lib/sellers/contract.ts";
import { registerSeller } from "#lib/sellers/register-seller.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let organizationId: string;
let as: Credential;
beforeAll(async () => {
  organizationId = await createOrganization();
  as = (await createPerson(organizationId, "developer")).credential;
});

const register = (body: unknown, more: { as?: Credential; key?: string } = {}) =>
  send(contract.registerSeller, registerSeller, { as, body, ...more });

describe("registerSeller", () => {
  it("201 stores the domain in its canonical form, unverified, with its event", async () => {
    const { status, data } = await register({ name: " Data ", domain: "DATA。Example.com." });
    expect(status).toBe(201);
    expect(data).toEqual({
      sellerId: data.sellerId,
      name: "Data",
      domain: "data.example.com",
      verified: false,
      minimumAssuranceLevel: "softwareApproved",
    });
    expect(await eventsAbout(data.sellerId)).toMatchObject([
      { type: "seller.created", chain: organizationId, metadata: { name: "Data", domain: "data.example.com" } },
    ]);
  });

  it("201 for several organizations with one domain: nobody owns it before it is verified", async () => {
    const other = await createPerson(await createOrganization());
    expect((await register({ name: "A", domain: "shared.example.com" })).status).toBe(201);
    expect((await register({ name: "B", domain: "shared.example.com" }, { as: other.credential })).status).toBe(201);
  });

  it.each([
    ["/domain", { name: "A", domain: "аpple.com" }],
    ["/domain", { name: "A", domain: "example.com@evil.com" }],
    ["/domain", { name: "A", domain: "localhost:4021" }],
    ["/domain", { name: "A" }],
    ["/name", { name: " ", domain: "a.example.com" }],
    ["/minimumAssuranceLevel", { name: "A", domain: "a.example.com", minimumAssuranceLevel: "none" }],
    ["/verified", { name: "A", domain: "a.example.com", verified: true }],
    ["/sellerId", { name: "A", domain: "a.example.com", sellerId: "sel_1" }],
    ["/organizationId", { name: "A", domain: "a.example.com", organizationId: "org_1" }],
  ])("400 points at %s of %j", async (pointer, body) => {
    const { status, problem } = await register(body);
    expect(status).toBe(400);
    expect(problem.errors?.map((error) => error.pointer)).toEqual([pointer]);
  });

  it("401 without a credential", async () => {
    expect((await register({ name: "A", domain: "a.example.com" }, { as: {} })).status).toBe(401);
  });

  it("403 without sellers:manage", async () => {
    const agent = await createAgent(organizationId, ["sellers:read"]);
    const { status, problem } = await register({ name: "A", domain: "a.example.com" }, { as: agent.credential });
    expect([status, problem.code]).toEqual([403, "capability_required"]);
  });

  it("a repeat with the same idempotency key gets the first reply, and the key with another body is refused", async () => {
    const body = { name: "Once", domain: "once.example.com" };
    const first = await register(body, { key: "k1" });
    const again = await register(body, { key: "k1" });
    expect(JSON.stringify(again.data)).toBe(JSON.stringify(first.data));
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    const other = await register({ ...body, name: "Twice" }, { key: "k1" });
    expect([other.status, other.problem.code]).toEqual([422, "idempotency_key_reused"]);
  });
});
