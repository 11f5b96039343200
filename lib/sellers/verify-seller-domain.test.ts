import { createServer, type Server } from "node:http";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import * as contract from "#lib/sellers/contract.ts";
import { inDns } from "#lib/sellers/domain-proof.ts";
import { getSeller } from "#lib/sellers/get-seller.ts";
import { registerSeller } from "#lib/sellers/register-seller.ts";
import { verifySellerDomain } from "#lib/sellers/verify-seller-domain.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { listen, type ListeningServer } from "#test/shop.ts";
import { createAgent, createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

const servers: ListeningServer[] = [];
let organizationId: string;
let as: Credential;
let other: Credential;
let published: { status: number; text: string; location?: string };
let domain: string;

async function open(server: Server): Promise<string> {
  const listening = await listen(server);
  servers.push(listening);
  const host = new URL(listening.url).host;
  const variables = env() as { OUTBOUND_LOOPBACK?: string | undefined };
  variables.OUTBOUND_LOOPBACK = [...(variables.OUTBOUND_LOOPBACK ?? "").split(",").filter(Boolean), host].join(",");
  forget("outbound/guarded-fetch");
  return host;
}

afterAll(() => Promise.all(servers.map((server) => server.close())));
beforeEach(async () => {
  // Each test has a new organization, because each organization can cause only ten calls per minute to domains that are not
  // verified.
  organizationId = await createOrganization();
  as = (await createPerson(organizationId)).credential;
  other = (await createPerson(await createOrganization("Rival"))).credential;
  published = { status: 404, text: "" };
  domain = await open(
    createServer((request, response) => {
      const { status, text, location } = published;
      if (request.url !== "/.well-known/countersign.txt") return void response.writeHead(404).end();
      response.writeHead(status, { "content-type": "text/plain", ...(location && { location }) }).end(text);
    }),
  );
});

const register = async (credential = as) =>
  (await send(contract.registerSeller, registerSeller, { as: credential, body: { name: "Shop", domain } })).data.sellerId;
const verify = (id: string, more: { as?: Credential; body?: unknown; key?: string } = {}) =>
  send(contract.verifySellerDomain, verifySellerDomain, { as, id, body: { method: "wellKnown" }, ...more });
const isVerified = async (id: string) => (await send(contract.getSeller, getSeller, { as, id })).data.verified;

/** The token that the refusal tells the owner of the domain to publish. */
async function tokenFor(id: string, credential = as): Promise<string> {
  const { problem } = await verify(id, { as: credential });
  return String(problem.nextActions[0]?.metadata?.["token"]);
}

describe("verifySellerDomain", () => {
  it("424 tells the owner what to publish and where; then 200", async () => {
    const id = await register();
    const { status, problem } = await verify(id);
    expect([status, problem.code]).toEqual([424, "storefront_invalid"]);
    expect(problem.nextActions).toMatchObject([
      { type: "verify_seller", metadata: { url: `http://${domain}/.well-known/countersign.txt` } },
    ]);
    published = { status: 200, text: `# ours\r\n${String(problem.nextActions[0]?.metadata?.["token"])} \r\n` };
    const verified = await verify(id);
    expect([verified.status, verified.data.verified]).toEqual([200, true]);
    expect((await eventsAbout(id)).map(({ type }) => type)).toEqual(["seller.created", "seller.verified"]);
  });

  it("200 again, without a call and without a second event, for a seller that is verified", async () => {
    const id = await register();
    published = { status: 200, text: await tokenFor(id) };
    await verify(id);
    published = { status: 500, text: "" };
    expect((await verify(id)).status).toBe(200);
    expect(await eventsAbout(id)).toHaveLength(2);
  });

  it("a repeat with the same idempotency key gets the first reply", async () => {
    const id = await register();
    published = { status: 200, text: await tokenFor(id) };
    const first = await verify(id, { key: "proof" });
    published = { status: 500, text: "" };
    expect(await verify(id, { key: "proof" })).toMatchObject({ status: 200, data: first.data });
  });

  it("409 for the second organization that proves the same domain", async () => {
    const mine = await register();
    const theirs = await register(other);
    published = { status: 200, text: `${await tokenFor(mine)}\n${await tokenFor(theirs, other)}` };
    const replies = await Promise.all([verify(mine), verify(theirs, { as: other })]);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  });

  it.each<readonly [string, (token: string) => { status: number; text: string; location?: string }]>([
    ["another seller's token", () => ({ status: 200, text: "countersign-domain=AAAA" })],
    ["a page that merely mentions it", (token) => ({ status: 200, text: `<p>${token}</p>` })],
    ["a page of the right words that is an error", (token) => ({ status: 404, text: token })],
    ["more than 256 KiB", (token) => ({ status: 200, text: `${token}\n${"a".repeat(300_000)}` })],
    ["nothing", () => ({ status: 200, text: "" })],
  ])("424 for %s", async (_, publish) => {
    const id = await register();
    published = publish(await tokenFor(id));
    expect((await verify(id)).status).toBe(424);
    expect(await isVerified(id)).toBe(false);
  });

  it("424 for a token that a redirect fetched from another host", async () => {
    const id = await register();
    const text = await tokenFor(id);
    const elsewhere = await open(createServer((_, response) => response.end(text)));
    published = { status: 302, text: "", location: `http://${elsewhere}/token` };
    expect((await verify(id)).status).toBe(424);
  });

  it("424 says what to publish, even if the domain does not answer", async () => {
    const id = await register();
    await Promise.all(servers.splice(0).map((server) => server.close()));
    const { problem } = await verify(id);
    expect([problem.code, problem.nextActions[0]?.type]).toEqual(["storefront_unavailable", "verify_seller"]);
  });

  it("400 for DNS of a loopback host, and for an unknown method", async () => {
    const id = await register();
    for (const method of ["dns", "email"])
      expect((await verify(id, { body: { method } })).problem.errors?.[0]?.pointer).toBe("/method");
  });

  it("403 without sellers:manage", async () => {
    const agent = await createAgent(organizationId, ["sellers:read"]);
    expect((await verify(await register(), { as: agent.credential })).status).toBe(403);
  });

  it("404 hides a seller of another organization", async () => {
    expect((await verify(await register(), { as: other })).status).toBe(404);
  });
});

describe("the token in DNS", () => {
  const records = (...found: string[][]) => Promise.resolve(found);

  it("is found in one of several records, even if the record is split into strings", async () => {
    const asked: string[] = [];
    const resolve = (name: string) => {
      asked.push(name);
      return records(["v=spf1 -all"], ["countersign-", "domain=abc"]);
    };
    expect(await inDns("shop.example.com", "countersign-domain=abc", resolve)).toBe(true);
    expect(asked).toEqual(["_countersign.shop.example.com"]);
  });

  it("is not found inside another text, or without a record", async () => {
    const token = "countersign-domain=abc";
    expect(await inDns("shop.example.com", token, () => records([`x${token}`]))).toBe(false);
    expect(await inDns("shop.example.com", token, () => Promise.reject(new Error("ENOTFOUND")))).toBe(false);
  });
});
