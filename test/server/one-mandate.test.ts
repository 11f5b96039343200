import { eq, sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { usdcAbi } from "../../examples/chain.ts";
import { publicKeys } from "#lib/audit/signing-key.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { database } from "#lib/db/client.ts";
import { lower } from "#lib/evm.ts";
import type { Scope } from "#lib/mandates/store.ts";
import { mandates, usageBuckets } from "#lib/mandates/tables.ts";
import { viewBurnDown } from "#lib/pages/buyer/view-burn-down.ts";
import { viewMandate } from "#lib/pages/buyer/view-mandate.ts";
import { viewMandateLedger, type LedgerLine } from "#lib/pages/buyer/view-mandate-ledger.ts";
import { viewSpending } from "#lib/pages/buyer/view-spending.ts";
import { verifyReceipt } from "#lib/receipts/verify-receipt.ts";
import { useDatabase } from "#test/database.ts";
import { hold } from "#test/holding.ts";
import { CHAIN } from "#test/mandates.ts";
import { fundedWallet, paymentScene, signed, useSettlement, type PaymentScene } from "#test/payments.ts";
import { brokenInvariants } from "#test/proof.ts";
import { invoiceOf, USD } from "#test/recording.ts";
import { newSeller } from "#test/sellers.ts";
import { startServer, type RunningServer } from "#test/server.ts";
import { EURX, inUsd, useTwoTokens } from "#test/two-tokens.ts";

/* One mandate of 100 USD on every rail: 200 connections pay 1 USD at once through two servers, in two tokens and elsewhere, while
   one server and then the other is killed. */

const databaseOf = useDatabase();
const chain = useSettlement();
useTwoTokens(chain);

const CONNECTIONS = 200;
const LIMIT = 100;
const ATTEMPTS_MAX = 1_000;
const UNIT = 10n ** 9n;

/** What counts as 1 USD on each rail: 1.25 x 0.8, 0.8 x 1.25, and 1 x 1. */
const rails = {
  USDC: { amount: "1.25", atomic: 1_250_000n, counts: "0.8" },
  EURX: { amount: "0.8", atomic: 800_000_000_000_000_000n, counts: "1.25" },
  record: { amount: "1", atomic: UNIT, counts: "1" },
} as const;
type Rail = keyof typeof rails;
const names = Object.keys(rails) as Rail[];

const limits = { perPayment: "1", total: String(LIMIT), budgets: [{ period: "year", timezone: "UTC", amount: String(LIMIT) }] };
const inTokens = inUsd(limits, { USDC: rails.USDC.counts, EURX: rails.EURX.counts });
const policy = {
  ...inTokens,
  assets: [...inTokens.assets, { ...USD, counts: rails.record.counts }],
  rails: ["x402", "record"],
  records: { payees: "any" },
};

let scene: PaymentScene;
let payees: Readonly<Record<"USDC" | "EURX", Awaited<ReturnType<typeof newSeller>>>>;
let wallet: Awaited<ReturnType<typeof fundedWallet>>;
const servers: RunningServer[] = [];
const start = () => startServer({ RATE_LIMIT_PER_KEY: "1000000", SETTLEMENT_DAILY_CAP: "1000000" });
beforeAll(async () => {
  const settlementMode = "facilitatorSettled";
  scene = await paymentScene({ price: rails.USDC.amount, settlementMode, mandate: { policy } });
  const inEuros = await newSeller(scene.owner.credential, { price: rails.EURX.amount, asset: "EURX", settlementMode });
  payees = { USDC: scene.seller, EURX: inEuros };
  wallet = await fundedWallet(chain(), 10n ** 12n);
  const minted = [wallet.address, 10n ** 30n] as const;
  const { client } = chain();
  await chain().mined(client.writeContract({ address: EURX.tokenAddress, abi: usdcAbi, functionName: "mint", args: minted }));
  servers.push(await start(), await start());
});
afterAll(() => Promise.all(servers.map((server) => server.stop())));

type Sent = { readonly path: string; readonly body?: unknown };
type Reply = { readonly status: number; readonly text: string };

async function send({ url }: RunningServer, { path, body }: Sent): Promise<Reply> {
  const headers = { "content-type": "application/json", ...scene.agent.credential };
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const reply = await fetch(`${url}/api/v1${path}`, init);
  return { status: reply.status, text: await reply.text() };
}

let cut = 0;

/** Sends a request until a server has answered it: half of the connections ask both in turn, the others wait for their own. */
async function untilAnswered(sent: Sent, at: number): Promise<string> {
  const isLoyal = at % 4 > 1;
  for (let turn = 0; turn < ATTEMPTS_MAX; turn += 1) {
    const reply = await send(servers[(isLoyal ? at : at + turn) % 2]!, sent).catch(() => null);
    if (reply?.status === 200) return reply.text;
    if (reply === null) cut += 1;
    // Another request with this key may still run, and a server may be overloaded.
    else if (![409, 503].includes(reply.status)) throw new Error(`${sent.path} got ${reply.status}: ${reply.text}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Nobody has answered ${sent.path}.`);
}

/** The sessions that wait for a lock and are younger than `since`. */
const waitingSince = (since: string) =>
  database().execute(sql`SELECT FROM pg_locks JOIN pg_stat_activity a USING (pid)
    WHERE NOT granted AND a.datname = current_database() AND a.backend_start > ${since}::timestamptz`);

/**
 * Sends all requests at once. While transactions wait for a lock that the test holds, one server is killed and started again; the
 * lock is released when the new one waits for it too. Returns the answers.
 */
async function race(requests: readonly Sent[], killed: 0 | 1, lock: string): Promise<readonly string[]> {
  const before = cut;
  const locks = await hold(databaseOf().url, lock);
  const racing = Promise.all(requests.map(untilAnswered));
  await locks.blocks();
  await servers[killed]!.kill();
  const [now] = await database().execute<{ at: string }>(sql`SELECT clock_timestamp()::text AS at`);
  servers[killed] = await start();
  await expect.poll(() => waitingSince(now!.at)).not.toHaveLength(0);
  await locks.release();
  const answers = await racing;
  expect(cut).toBeGreaterThan(before);
  // Both servers repeat the same bytes, whoever gave the first answer.
  for (const server of servers) {
    const repeated = await Promise.all(requests.map((sent) => send(server, sent)));
    expect(repeated.map(({ text }) => text)).toEqual(answers);
  }
  return answers;
}

type Decided = {
  readonly authorizationId: string;
  readonly policyDecision: { readonly outcome: string; readonly denialCode?: string };
};
type Payment = Decided & { readonly rail: Rail; readonly number: number };

let count = 0;

function asked(rail: Rail, mandateId: string): Sent {
  const { amount } = rails[rail];
  if (rail === "record") return { path: "/payments/authorize", body: { mandateId, intent: invoiceOf(amount) } };
  const { sellerId, resourceId } = payees[rail];
  const name = `one-${++count}`;
  const expiresAt = new Date(Date.now() + 800_000).toISOString();
  const ids = { intentId: name, nonce: name, idempotencyKey: name };
  const intent = { ...ids, seller: { sellerId }, resource: { resourceId }, amount, asset: rail, expiresAt };
  return { path: "/payments/authorize", body: { mandateId, intent } };
}

/** A server is killed before COMMIT, which may be on its way. */
async function authorizeAll(mandateId: string): Promise<readonly Payment[]> {
  const railOf = (at: number): Rail => names[at % names.length]!;
  const requests = Array.from({ length: CONNECTIONS }, (_, at) => asked(railOf(at), mandateId));
  const lock = `SELECT FROM audit_heads WHERE chain = '${scene.organizationId}' FOR UPDATE`;
  const decided = (await race(requests, 0, lock)).map((text) => JSON.parse(text) as Decided);
  const answers = decided.map((one, at): Payment => ({ ...one, rail: railOf(at), number: at }));
  const { allow = [], deny = [] } = Object.groupBy(answers, ({ policyDecision }) => policyDecision.outcome);
  expect([allow.length, deny.length]).toEqual([LIMIT, CONNECTIONS - LIMIT]);
  expect(new Set(deny.map(({ policyDecision }) => policyDecision.denialCode))).toEqual(new Set(["mandate_exhausted"]));
  return allow;
}

/** What is captured of a payment, in the unit: every third one stays held, and every third record is a part of what is held. */
const capturedOf = ({ rail, number }: Payment): bigint =>
  [rail === "record" ? (7n * UNIT) / 10n : UNIT, UNIT, 0n][Math.floor(number / names.length) % 3]!;

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n);

/** The requests that capture what capturedOf says. */
async function capturing(payment: Payment): Promise<Sent[]> {
  const { rail, authorizationId } = payment;
  const captured = capturedOf(payment);
  if (captured === 0n) return [];
  if (rail === "record") {
    const parts = captured === UNIT ? [["paid", "1"]] : ["0.4", "0.3"].map((amount) => ["partlyPaid", amount]);
    return parts.map(([outcome, amount], part) => ({
      path: `/payments/${authorizationId}/record`,
      body: { idempotencyKey: `${authorizationId}-${part}`, outcome, amount, asset: USD.asset },
    }));
  }
  const payTo = lower(payees[rail].payTo);
  const expected = { asset: assetOf(CHAIN, rail)!, amount: rails[rail].atomic, payTo, maxTimeoutSeconds: 600 };
  const body = { authorizationId, idempotencyKey: `pay-${authorizationId}`, paymentCredential: await signed(wallet, expected) };
  return [{ path: "/payments/execute", body }];
}

type Execution = { readonly executionId: string; readonly settlementStatus: string };

async function read<T>(path: string, server = servers[0]!): Promise<T> {
  const { status, text } = await send(server, { path });
  expect(status, text).toBe(200);
  return JSON.parse(text) as T;
}

const executionsOf = async ({ authorizationId }: Payment): Promise<readonly Execution[]> =>
  (await read<{ executions: readonly Execution[] }>(`/payments/${authorizationId}`)).executions;

async function settledOf(payments: readonly Payment[]): Promise<readonly Execution[]> {
  const paid = payments.filter((payment) => payment.rail !== "record" && capturedOf(payment) > 0n);
  await expect
    .poll(async () => [...new Set((await Promise.all(paid.map(executionsOf))).flat().map((one) => one.settlementStatus))], {
      timeout: 300_000,
      interval: 2_000,
    })
    .toEqual(["settled"]);
  const executions = (await Promise.all(paid.map(executionsOf))).flat();
  expect(executions).toHaveLength(paid.length);
  return executions;
}

const text = (amount: bigint): string => String(Number(amount) / Number(UNIT));

type Captured = (payment: Payment) => bigint;

/** What the mandate's page says of each rail, and of what a revocation keeps, which is what is held for records. */
async function expectMandatePage(scope: Scope, mandateId: string, payments: readonly Payment[], capturedBy: Captured) {
  const { mandate, effect, rails: shown } = await viewMandate(scope, mandateId);
  const sumsOf = (isRecord: boolean) => {
    const own = payments.filter(({ rail }) => (rail === "record") === isRecord);
    const spent = sumOf(own.map(capturedBy));
    return { spent: text(spent), reserved: text(BigInt(own.length) * UNIT - spent) };
  };
  const [x402, record] = [sumsOf(false), sumsOf(true)];
  expect(shown).toEqual(Object.entries({ x402, record }).map(([rail, sums]) => ({ rail, ...sums })));
  expect(effect).toMatchObject({ reserved: x402.reserved, kept: record.reserved });
  return mandate;
}

/** The rows, and what both servers and the pages say of them. */
async function expectAgreement(mandateId: string, payments: readonly Payment[], capturedBy: Captured): Promise<void> {
  const captured = sumOf(payments.map(capturedBy));
  const reserved = BigInt(LIMIT) * UNIT - captured;
  const sums = { spent: captured, reserved };
  expect(await brokenInvariants()).toEqual([]);
  expect(await database().select().from(mandates).where(eq(mandates.mandateId, mandateId))).toMatchObject([sums]);
  const buckets = await database().select().from(usageBuckets).where(eq(usageBuckets.mandateId, mandateId));
  expect(buckets).toMatchObject([{ ...sums, payments: LIMIT }]);
  const used = { unit: "USD", limit: "100", used: "100", remaining: "0" };
  const usage = { unit: "USD", limit: "100", spent: text(captured), reserved: text(reserved), available: "0" };
  for (const server of servers) {
    const { limits } = await read<{ limits: readonly { pointer: string }[] }>(`/mandates/${mandateId}/remaining`, server);
    expect(limits.filter(({ pointer }) => pointer !== "/limits/perPayment")).toMatchObject([used, used]);
    expect(await read(`/mandates/${mandateId}`, server)).toMatchObject({ usage: [usage, usage] });
  }
  const scope = { organizationId: scene.organizationId, environment: "sandbox" as const };
  const mandate = await expectMandatePage(scope, mandateId, payments, capturedBy);
  expect(mandate.usage).toMatchObject([usage, usage]);
  expect((await viewBurnDown(mandate))?.usage).toMatchObject(usage);
  expect(await viewSpending(scope)).toMatchObject([{ asset: "USD", held: text(reserved), month: { total: text(captured) } }]);
  const { items, hasMore } = await viewMandateLedger(scope, mandateId, { limit: 1_000 });
  const ofKind = (kind: LedgerLine["kind"]) => items.filter((line) => line.kind === kind);
  const holds = ofKind("hold");
  expect(new Set(holds.map(({ authorizationId }) => authorizationId))).toEqual(
    new Set(payments.map((one) => one.authorizationId)),
  );
  expect([hasMore, holds.length, new Set(holds.map(({ amount }) => amount))]).toEqual([false, LIMIT, new Set(["1"])]);
  expect(sumOf(ofKind("capture").map(({ amount }) => BigInt(Math.round(Number(amount) * 1e9))))).toBe(captured);
}

async function expectReceipts(payments: readonly Payment[], executions: readonly Execution[]): Promise<void> {
  const paths = [
    ...payments.map(({ authorizationId }) => `/receipts/payments/${authorizationId}`),
    ...executions.map(({ executionId }) => `/receipts/executions/${executionId}`),
  ];
  for (const [at, path] of paths.entries()) {
    const answer = await read<{ receipt: string }>(path, servers[at % 2]);
    const ofExecution = at >= payments.length && { settlement: { status: "settled" } };
    const claims = { outcome: "allow", ...ofExecution };
    expect(await verifyReceipt(answer, publicKeys())).toMatchObject({ ok: true, withProof: true, claims });
    const signed = JSON.parse(Buffer.from(answer.receipt.split(".")[1]!, "base64url").toString()) as object;
    expect(signed).toMatchObject({ unit: { amount: "1" } });
  }
}

const balanceOf = (rail: "USDC" | "EURX"): Promise<bigint> =>
  chain().client.readContract({
    address: rail === "USDC" ? assetOf(CHAIN, "USDC")!.tokenAddress : EURX.tokenAddress,
    abi: usdcAbi,
    functionName: "balanceOf",
    args: [payees[rail].payTo],
  });

/** A server is killed while it waits for the mandate. */
async function captureAll(mandateId: string, payments: readonly Payment[]): Promise<readonly Execution[]> {
  const requests = (await Promise.all(payments.map(capturing))).flat();
  await race(requests, 1, `SELECT FROM mandates WHERE mandate_id = '${mandateId}' FOR UPDATE`);
  return settledOf(payments);
}

test("of 200 connections on two servers, one of which is killed, exactly 100 pay 1 USD each on any rail, and everything agrees", async () => {
  const { mandateId } = scene;
  const payments = await authorizeAll(mandateId);
  await expectAgreement(mandateId, payments, () => 0n);
  const executions = await captureAll(mandateId, payments);
  await expectAgreement(mandateId, payments, capturedOf);
  await expectReceipts(payments, executions);
  for (const rail of ["USDC", "EURX"] as const) {
    const paid = payments.filter((payment) => payment.rail === rail && capturedOf(payment) > 0n);
    expect(await balanceOf(rail)).toBe(BigInt(paid.length) * rails[rail].atomic);
  }
});
