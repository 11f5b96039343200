import { sql } from "drizzle-orm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import { revokeServiceAccount as revokeAccountOperation } from "#lib/identity/keys/contract.ts";
import { Authorization } from "#lib/payment-intent.ts";
import { newIntent, storedAnswers } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets, createBuyer, type Buyer } from "#test/mandates.ts";
import { brokenInvariants } from "#test/proof.ts";
import { random } from "#test/random.ts";
import { startServer, type RunningServer } from "#test/server.ts";
import { createAgent, send, type Credential } from "#test/tenant.ts";

useDatabase();

const CLIENTS = 64;
const STEPS = 32;

type Agent = { readonly serviceAccountId: string; readonly credential: Credential };
type Tenant = { readonly buyer: Buyer; readonly agents: readonly Agent[]; readonly mandateIds: readonly string[] };
type Request = { readonly tenant: Tenant; readonly agent: Agent; readonly key: string; readonly text: string };
type Reply = { readonly request: Request; readonly status: number; readonly text: string; readonly code: string | undefined };

const servers: RunningServer[] = [];
const tenants: Tenant[] = [];

const policies = [
  { assets, limits: { perPayment: "0.5", budgets: [{ period: "year", timezone: "UTC", amount: "40" }] } },
  { assets, limits: { perPayment: "1", total: "30", counts: [{ rolling: "PT24H", max: 50 }] } },
  { assets, limits: { perPayment: "1", budgets: [{ rolling: "PT1H", amount: "25" }] } },
  { assets, limits: { perPayment: "1", total: "100000" } },
  { assets, limits: { perPayment: "1", total: "20" }, approval: { mode: "always" } },
];

async function newTenant(): Promise<Tenant> {
  const buyer = await createBuyer();
  const second = await createAgent(buyer.organizationId, ["payments:authorize"]);
  const mandateIds = await Promise.all(policies.map((policy) => activeMandate(buyer.person.credential, { policy })));
  return { buyer, agents: [buyer.agent, second], mandateIds };
}

beforeAll(async () => {
  await database().execute(sql`ALTER TABLE authorizations ADD CONSTRAINT fires CHECK (nonce NOT LIKE 'fires-%')`);
  tenants.push(...(await Promise.all([newTenant(), newTenant(), newTenant()])));
  servers.push(...(await Promise.all([startServer(), startServer()])));
});
afterAll(() => Promise.all(servers.map((server) => server.stop())));

async function post(url: string, path: string, as: Credential, text: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...as },
    body: text,
  });
  return { status: response.status, text: await response.text() };
}

/** Sends an authorize request, again with the same key while the reply is 503, as clients should. */
async function authorize(url: () => string, request: Request): Promise<Reply> {
  for (;;) {
    const { status, text } = await post(url(), "/api/v1/payments/authorize", request.agent.credential, request.text);
    const { code } = JSON.parse(text) as { code?: string };
    if (status !== 503) return { request, status, text, code };
  }
}

const poison = ["\u0000", "\ud800", "x".repeat(70_000), "\u202e"];

/**
 * One client: it sends new payments, repeats its own and other clients' requests, uses keys again for other requests, and sends
 * requests that must be refused.
 */
async function client(seed: number, sent: Request[], replies: Reply[]): Promise<void> {
  const next = random(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
  const url = () => pick(servers).url;
  for (let step = 0; step < STEPS; step += 1) {
    const dice = next();
    const tenant = pick(tenants);
    const name = `c${seed}-${step}`;
    const intent = { ...newIntent(tenant.buyer), intentId: name, nonce: name, idempotencyKey: name };
    const body = (change: Record<string, unknown> = {}) =>
      JSON.stringify({ mandateId: pick(tenant.mandateIds), intent: { ...intent, ...change } });
    const fresh = (text: string): Request => ({ tenant, agent: pick(tenant.agents), key: intent.idempotencyKey, text });
    let request: Request;
    if (dice < 0.3 && sent.length > 0) request = pick(sent);
    else if (dice < 0.36 && sent.length > 0) {
      const old = pick(sent);
      request = {
        ...old,
        text: JSON.stringify({ mandateId: pick(old.tenant.mandateIds), intent: { ...intent, idempotencyKey: old.key } }),
      };
    } else if (dice < 0.42) request = fresh(body({ metadata: { note: pick(poison) }, nonce: pick([name, "\u0000"]) }));
    else if (dice < 0.44) request = fresh(body({ nonce: `fires-${name}` }));
    else if (dice < 0.48) request = fresh(body({ nonce: `shared-${Math.floor(next() * 8)}` }));
    else request = fresh(body());
    sent.push(request);
    replies.push(await authorize(url, request));
  }
}

/** Calls `work`, which takes rights away, under full load: after `after` replies. */
async function revoke(replies: readonly Reply[], after: number, work: () => Promise<{ status: number }>): Promise<void> {
  while (replies.length < after) await new Promise((resolve) => setTimeout(resolve, 2));
  expect((await work()).status).toBe(200);
}

describe("200 parallel authorizations on two server processes with room for exactly 100", () => {
  test.each([
    ["in a rolling budget", { budgets: [{ rolling: "PT24H", amount: "50" }] }],
    ["in a rolling count", { total: "1000", counts: [{ rolling: "PT24H", max: 100 }] }],
    ["in a total", { total: "50" }],
  ])("%s are 100 allow, 100 deny and no error", async (_name, limit) => {
    const { buyer } = tenants[2]!;
    const policy = { assets, limits: { perPayment: "0.5", ...limit } };
    const mandateId = await activeMandate(buyer.person.credential, { policy });
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        const body = JSON.stringify({ mandateId, intent: newIntent(buyer) });
        const { status, text } = await post(servers[at % 2]!.url, "/api/v1/payments/authorize", buyer.agent.credential, body);
        return status === 200 ? (JSON.parse(text) as Authorization).policyDecision.outcome : text;
      }),
    );
    expect(answers.filter((answer) => answer === "allow")).toHaveLength(100);
    expect(answers.filter((answer) => answer === "deny")).toHaveLength(100);
    expect(await brokenInvariants()).toEqual([]);
  });
});

describe("64 clients on two server processes over one database", () => {
  const sent: Request[] = [];
  const replies: Reply[] = [];

  beforeAll(async () => {
    const total = CLIENTS * STEPS;
    const [one, two, three] = tenants as [Tenant, Tenant, Tenant];
    const revokeMandate = ({ buyer, mandateIds }: Tenant, at: number) =>
      post(servers[at % 2]!.url, `/api/v1/mandates/${mandateIds[at]}/revoke`, buyer.person.credential, "{}");
    await Promise.all([
      ...Array.from({ length: CLIENTS }, (_, at) => client(at + 1, sent, replies)),
      revoke(replies, total * 0.2, () => revokeMandate(one, 0)),
      revoke(replies, total * 0.4, () => revokeMandate(two, 3)),
      revoke(replies, total * 0.5, () =>
        send(revokeAccountOperation, revokeServiceAccount, {
          id: one.agents[1]!.serviceAccountId,
          as: one.buyer.person.credential,
          body: {},
        }),
      ),
      revoke(replies, total * 0.7, () => revokeMandate(three, 4)),
    ]);
  });

  test("limits, sums, keys, revocations and audit events are right for everything that was written", async () => {
    expect(await brokenInvariants()).toEqual([]);
  });

  test("every reply is the expected one, and only requests that violate a CHECK get a 500", () => {
    const codes = new Set(replies.map(({ status, code }) => `${status} ${code ?? ""}`.trim()));
    expect([...codes].toSorted()).toEqual(
      [
        "200",
        "400 invalid_request",
        "401 api_key_invalid",
        "413 body_too_large",
        "422 idempotency_key_reused",
        "500 internal_error",
      ].toSorted(),
    );
    for (const { status, request } of replies) if (status === 500) expect(request.text).toContain('"nonce":"fires-');
    const outcomes = new Set(
      replies
        .filter(({ status }) => status === 200)
        .map(({ text }) => (JSON.parse(text) as Authorization).policyDecision.outcome),
    );
    expect([...outcomes].toSorted()).toEqual(["allow", "deny", "requireApproval"]);
  });

  test("the same key and body got the same bytes from both processes, equal to the stored ones", async () => {
    const asked = tenants.flatMap(({ mandateIds }) => mandateIds);
    const stored = await storedAnswers(...asked);
    const answered = replies.filter(({ status }) => status === 200);
    const byRequest = Map.groupBy(answered, ({ request }) => `${request.key} ${request.text}`);
    expect([...byRequest.values()].some((same) => same.length > 1)).toBe(true);
    for (const same of byRequest.values()) expect(new Set(same.map(({ text }) => text)).size).toBe(1);
    const given = new Set(answered.map(({ text }) => text));
    expect(stored).toEqual([...given].toSorted());
  });

  test("replies match the contract exactly", () => {
    const answers = replies.filter(({ status }) => status === 200).map(({ text }) => JSON.parse(text) as unknown);
    for (const answer of answers) expect(Authorization.parse(answer)).toEqual(answer);
  });

  test("no row exists of requests that were invalid or violated the CHECK", async () => {
    const rows = await database().execute(
      sql`SELECT FROM authorizations WHERE nonce LIKE 'fires-%' OR intent::text ~ '\\u0000|\\ud800'`,
    );
    expect(rows).toHaveLength(0);
  });
});
