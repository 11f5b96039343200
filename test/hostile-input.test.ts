import { beforeAll, beforeEach, afterEach, describe, expect, test } from "vitest";
import { eq } from "drizzle-orm";
import { z } from "zod";
import * as billing from "#lib/billing/contract.ts";
import { database, pool } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import type { Operation } from "#lib/http/operation.ts";
import { user } from "#lib/identity/tables.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { operations } from "#lib/operations/operations.ts";
import * as payments from "#lib/payments/contract.ts";
import { ErrorBody } from "#lib/problem.ts";
import { dispatch } from "#lib/server/entry.ts";
import * as sellers from "#lib/sellers/contract.ts";
import { amounts, hosts, ids, idsInPaths, paths, texts } from "#test/corpora.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer, intentFor, policy } from "#test/mandates.ts";
import { newSeller } from "#test/sellers.ts";
import { createPerson, type Credential } from "#test/tenant.ts";

useDatabase();

/** A person with all permissions, so that a request can be refused only because of its input. */
let anyone: Credential;
let mandateId: string;
let sellerId: string;
let intent: Record<string, unknown>;
beforeAll(async () => {
  const buyer = await createBuyer();
  const person = await createPerson(buyer.organizationId);
  await database()
    .update(user)
    .set({ platformRoles: ["user", "admin"] })
    .where(eq(user.id, person.userId));
  anyone = person.credential;
  mandateId = await activeMandate(anyone);
  sellerId = (await newSeller(anyone)).sellerId;
  intent = { ...intentFor(buyer, "0.5"), idempotencyKey: "hostile" };
});

async function ask(
  operation: Operation,
  { body, text, id = "x", query = "" }: { body?: unknown; text?: string; id?: string; query?: string },
) {
  const url = env().BASE_URL + operation.path.replaceAll(/\{[^}]+\}/g, id) + query;
  const writes = operation.method !== "GET";
  const headers = { ...anyone, ...(writes && { "content-type": "application/json" }) };
  const response = await dispatch(
    new Request(url, { method: operation.method, headers, ...(writes && { body: text ?? JSON.stringify(body ?? {}) }) }),
  );
  const problem = ErrorBody.parse(await response.json());
  expect(problem.status).toBe(response.status);
  return { status: problem.status, code: problem.code, pointers: problem.errors?.map(({ pointer }) => pointer) ?? [] };
}

/**
 * The number of rows and the newest transaction of every table except rate_limit. If they stay the same, nothing was written to
 * these tables.
 */
async function everything(): Promise<unknown> {
  const tables = await pool()<
    { name: string }[]
  >`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'rate_limit'`;
  const sql = tables.map(
    ({ name }) => `SELECT '${name}' AS name, count(*)::int AS rows, max(xmin::text::bigint)::text AS newest FROM "${name}"`,
  );
  return pool().unsafe(`${sql.join(" UNION ALL ")} ORDER BY name`);
}

let before: unknown;
beforeEach(async () => {
  before = await everything();
});
afterEach(async () => {
  expect(await everything()).toEqual(before);
});

type Field = readonly [what: string, operation: Operation, pointer: string, body: (value: unknown) => unknown];

const pricing = (amount: unknown) => ({ type: "fixed", amount, asset: "USDC" });
const resource = (change: object) => ({
  sellerId,
  method: "GET",
  pathTemplate: "/x",
  pricing: pricing("1"),
  acceptedPaymentChallengeTypes: ["x402"],
  ...change,
});
const quote = { asset: "USDC", settlementMode: "offchainAuthorized" };

const amountFields: readonly Field[] = [
  ["a payment's amount", payments.authorizePayment, "/intent/amount", (amount) => ({ mandateId, intent: { ...intent, amount } })],
  ["a price", sellers.upsertPaidResource, "/pricing/amount", (amount) => resource({ pricing: pricing(amount) })],
  ["a fee quote's amount", billing.quoteFee, "/amount", (amount) => ({ ...quote, amount })],
  ["a flat fee", billing.saveFeeSchedule, "/flatAmount", (flatAmount) => ({ name: "x", asset: "USDC", flatAmount })],
  [
    "a limit",
    mandates.createMandate,
    "/policy/limits/perPayment",
    (perPayment) => ({ name: "x", policy: { ...policy, limits: { ...policy.limits, perPayment } } }),
  ],
  [
    "a budget",
    mandates.createMandate,
    "/policy/limits/budgets/0/amount",
    (amount) => ({
      name: "x",
      policy: { ...policy, limits: { perPayment: "1", budgets: [{ period: "day", timezone: "UTC", amount }] } },
    }),
  ],
];

describe.each(amountFields)("%s", (_what, operation, pointer, bodyWith) => {
  /** An amount with more decimals than the token has, and 2^256 of the token's smallest units and of whole tokens. */
  const beyond = [
    "0.0000001",
    "115792089237316195423570985008687907853269984665640564039457584007913129.639936",
    (2n ** 256n).toString(),
  ];
  test.each([...amounts, ...beyond].map((value) => [JSON.stringify(value).slice(0, 40), value] as const))(
    "the amount %s is refused with 400, and the problem points at it",
    async (_text, value) => {
      expect(await ask(operation, { body: bodyWith(value) })).toMatchObject({
        status: 400,
        code: "invalid_request",
        pointers: [pointer],
      });
    },
  );
});

test("a payment of zero is refused", async () => {
  for (const amount of ["0", "0.0", "0.000000"]) {
    expect(await ask(payments.authorizePayment, { body: { mandateId, intent: { ...intent, amount } } })).toMatchObject({
      status: 400,
      pointers: ["/intent/amount"],
    });
  }
});

describe("hosts", () => {
  test.each(hosts.map((host) => [JSON.stringify(host).slice(0, 50), host] as const))(
    "the domain %s is refused with 400, and the problem points at it",
    async (_text, domain) => {
      expect(await ask(sellers.registerSeller, { body: { name: "Shop", domain } })).toMatchObject({
        status: 400,
        pointers: ["/domain"],
      });
    },
  );
});

describe("paths", () => {
  test.each(paths.map((path) => [JSON.stringify(path).slice(0, 50), path] as const))(
    "the path template %s is refused with 400, and the problem points at it",
    async (_text, pathTemplate) => {
      expect(await ask(sellers.upsertPaidResource, { body: resource({ pathTemplate }) })).toMatchObject({
        status: 400,
        pointers: ["/pathTemplate"],
      });
    },
  );
});

describe("ids", () => {
  const fields: readonly Field[] = [
    ["intentId", payments.authorizePayment, "/intent/intentId", (intentId) => ({ mandateId, intent: { ...intent, intentId } })],
    ["nonce", payments.authorizePayment, "/intent/nonce", (nonce) => ({ mandateId, intent: { ...intent, nonce } })],
    ["mandateId", payments.authorizePayment, "/mandateId", (value) => ({ mandateId: value, intent })],
    [
      "idempotencyKey",
      payments.executePayment,
      "/idempotencyKey",
      (idempotencyKey) => ({ authorizationId: "aut_x", idempotencyKey }),
    ],
  ];
  test.each(fields.flatMap(([what, ...rest]) => ids.map((id) => [what, JSON.stringify(id).slice(0, 40), id, ...rest] as const)))(
    "the %s %s is refused with 400, and the problem points at it",
    async (_what, _text, id, operation, pointer, bodyWith) => {
      expect(await ask(operation, { body: bodyWith(id) })).toMatchObject({ status: 400, pointers: [pointer] });
    },
  );

  const named = operations.filter(({ path }) => path.includes("{"));
  test.each(named.map((one) => [one.id, one] as const))("%s finds nothing with malicious ids", async (_id, operation) => {
    for (const id of idsInPaths) {
      const { status } = await ask(operation, { id, body: operation.example.body ?? {} });
      expect([id, status]).toEqual([id, operation.method === "PUT" && id !== "%2e%2e" ? 400 : 404]);
    }
  });
});

describe("JSON", () => {
  // A body with a signature is not read before the signature was checked.
  const writing = operations.filter(({ method, access }) => method !== "GET" && access !== "signature");
  test.each(writing.map((one) => [one.id, one] as const))("%s refuses JSON that is not strict", async (_id, operation) => {
    for (const [name, text] of texts) {
      const { status, code, pointers } = await ask(operation, { text });
      expect([name, status, code, pointers.length > 0]).toEqual([name, 400, "invalid_request", true]);
    }
  });

  test.each(writing.map((one) => [one.id, one] as const))("%s refuses unknown fields", async (_id, operation) => {
    const own = [
      "verified",
      "status",
      "organizationId",
      "platformRoles",
      "feeRecipient",
      "createdAt",
      "keyPreview",
      "settlementMode",
    ];
    const fields = operation.body instanceof z.ZodObject ? Object.keys(operation.body.shape) : [];
    const response = Object.keys(operation.example.response ?? {});
    for (const name of new Set([...response, ...own].filter((one) => !fields.includes(one)))) {
      const reply = await ask(operation, { body: { ...(operation.example.body as object | undefined), [name]: "x" } });
      expect([name, reply.status]).toEqual([name, 400]);
    }
  });
});

describe("queries", () => {
  const reading = operations.filter(({ method }) => method === "GET");
  test.each(reading.map((one) => [one.id, one] as const))("%s refuses unknown parameters", async (_id, operation) => {
    for (const query of ["?__proto__=1", "?x=%00", "?organizationId=org_other&organizationId=2", "?%ff=1", "?constructor=1"]) {
      expect(await ask(operation, { id: "mdt_x", query })).toMatchObject({ status: 400, code: "invalid_request" });
    }
  });
  test.each([
    "limit=0",
    "limit=101",
    "limit=-1",
    "limit=1.5",
    "limit=x",
    "limit=",
    "limit=1&limit=2",
    "cursor=x",
    "cursor=",
    "cursor=%00",
    `cursor=${"a".repeat(600)}`,
    "cursor=MTonOyBEUk9QIFRBQkxF",
  ])("lists refuse ?%.40s", async (query) => {
    const { status, pointers } = await ask(mandates.listMandates, { query: `?${query}` });
    expect([status, pointers]).toEqual([400, [`/query/${query.split("=")[0]}`]]);
  });
});
