import { eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
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
import { authorization, connectStripe, eventOf, mapCard, newId, request, signedByStripe, transaction } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import { fundedWallet, paymentScene, signed, useSettlement, type PaymentScene } from "#test/payments.ts";
import { brokenInvariants } from "#test/proof.ts";
import { invoiceOf, USD } from "#test/recording.ts";
import { newSeller } from "#test/sellers.ts";
import { useTwoServers, type Sent } from "#test/two-servers.ts";
import { EURX, inUsd, useTwoTokens } from "#test/two-tokens.ts";

/* One mandate of 100 USD on every rail: 200 connections pay 1 USD at once through two servers, in two tokens, elsewhere and by
   card, while one server and then the other is killed. */

const databaseOf = useDatabase();
const chain = useSettlement();
useTwoTokens(chain);

const CONNECTIONS = 200;
const LIMIT = 100;
const UNIT = 10n ** 9n;

/** What counts as 1 USD on each rail: 1.25 x 0.8, 0.8 x 1.25, and 1 x 1. A card pays in cents. */
const rails = {
  USDC: { amount: "1.25", atomic: 1_250_000n, counts: "0.8" },
  EURX: { amount: "0.8", atomic: 800_000_000_000_000_000n, counts: "1.25" },
  record: { amount: "1", atomic: UNIT, counts: "1" },
  card: { amount: "1", atomic: 100n, counts: "1" },
} as const;
type Rail = keyof typeof rails;
const names = Object.keys(rails) as Rail[];

const limits = { perPayment: "1", total: String(LIMIT), budgets: [{ period: "year", timezone: "UTC", amount: String(LIMIT) }] };
const inTokens = inUsd(limits, { USDC: rails.USDC.counts, EURX: rails.EURX.counts });
const policy = {
  ...inTokens,
  assets: [...inTokens.assets, { ...USD, counts: rails.record.counts }],
  rails: ["x402", "record", "card"],
  records: { payees: "any" },
  cards: {},
};

let scene: PaymentScene;
let payees: Readonly<Record<"USDC" | "EURX", Awaited<ReturnType<typeof newSeller>>>>;
let wallet: Awaited<ReturnType<typeof fundedWallet>>;
let connectionId: string;
let cardId: string;
beforeAll(async () => {
  const settlementMode = "facilitatorSettled";
  scene = await paymentScene({ price: rails.USDC.amount, settlementMode, mandate: { policy } });
  const inEuros = await newSeller(scene.owner.credential, { price: rails.EURX.amount, asset: "EURX", settlementMode });
  payees = { USDC: scene.seller, EURX: inEuros };
  wallet = await fundedWallet(chain(), 10n ** 12n);
  const minted = [wallet.address, 10n ** 30n] as const;
  const { client } = chain();
  await chain().mined(client.writeContract({ address: EURX.tokenAddress, abi: usdcAbi, functionName: "mint", args: minted }));
  connectionId = await connectStripe(scene.person.credential);
  const { mandateId, agent } = scene;
  cardId = await mapCard(scene.person.credential, connectionId, { mandateId, serviceAccountId: agent.serviceAccountId });
});
const { race, read: readAs } = useTwoServers(databaseOf);

const asAgent = () => scene.agent.credential;
const read = <T>(path: string, server?: number) => readAs<T>(path, asAgent(), server);

/** An event that Stripe may send again, each time with a new signature. */
const told = (type: string, object: unknown): Sent => ({
  path: `/rails/stripe/${connectionId}`,
  body: eventOf(type, object),
  as: (body) => signedByStripe(body),
});

type Decided = {
  readonly authorizationId: string;
  readonly policyDecision: { readonly outcome: string; readonly denialCode?: string };
};
type Payment = Decided & { readonly rail: Rail; readonly number: number; readonly iauth: string };

let count = 0;

type Asked = Pick<Payment, "rail" | "number" | "iauth"> & { readonly sent: Sent };

function asking(number: number): Asked {
  const rail = names[number % names.length]!;
  const iauth = newId("iauth");
  const one = { rail, number, iauth };
  if (rail === "card")
    return { ...one, sent: told("issuing_authorization.request", request({ cardId, iauth }, Number(rails.card.atomic))) };
  const { mandateId } = scene;
  const path = "/payments/authorize";
  const { amount } = rails[rail];
  if (rail === "record") return { ...one, sent: { path, body: { mandateId, intent: invoiceOf(amount) }, as: asAgent } };
  const { sellerId, resourceId } = payees[rail];
  const name = `one-${++count}`;
  const expiresAt = new Date(Date.now() + 800_000).toISOString();
  const ids = { intentId: name, nonce: name, idempotencyKey: name };
  const intent = { ...ids, seller: { sellerId }, resource: { resourceId }, amount, asset: rail, expiresAt };
  return { ...one, sent: { path, body: { mandateId, intent }, as: asAgent } };
}

/** The decision in an answer; a card's has it in the words of Stripe. */
function decidedIn(answer: string, rail: Rail): Decided {
  if (rail !== "card") return JSON.parse(answer) as Decided;
  const { approved, metadata } = JSON.parse(answer) as {
    approved: boolean;
    metadata: { authorizationId: string; reason: string };
  };
  const { authorizationId, reason: denialCode } = metadata;
  return { authorizationId, policyDecision: approved ? { outcome: "allow" } : { outcome: "deny", denialCode } };
}

/** Each request of a card is sent by two connections. A server is killed before COMMIT, which may be on its way. */
async function authorizeAll(): Promise<readonly Payment[]> {
  const all = Array.from({ length: CONNECTIONS }, (_, number) => asking(number));
  const again = all.filter(({ rail }) => rail === "card");
  const lock = `SELECT FROM audit_heads WHERE chain = '${scene.organizationId}' FOR UPDATE`;
  const answers = await race(
    [...all, ...again].map(({ sent }) => sent),
    0,
    lock,
  );
  expect(answers.slice(CONNECTIONS)).toEqual(again.map(({ number }) => answers[number]));
  const decided = all.map((one): Payment => ({ ...one, ...decidedIn(answers[one.number]!, one.rail) }));
  const { allow = [], deny = [] } = Object.groupBy(decided, ({ policyDecision }) => policyDecision.outcome);
  expect([allow.length, deny.length]).toEqual([LIMIT, CONNECTIONS - LIMIT]);
  expect(new Set(deny.map(({ policyDecision }) => policyDecision.denialCode))).toEqual(new Set(["mandate_exhausted"]));
  return allow;
}

const isX402 = (rail: Rail): rail is "USDC" | "EURX" => rail === "USDC" || rail === "EURX";

/** What is captured of a payment, in the unit: every third one stays held, and of every third record and card it is a part. */
const capturedOf = ({ rail, number }: Payment): bigint =>
  [isX402(rail) ? UNIT : (7n * UNIT) / 10n, UNIT, 0n][Math.floor(number / names.length) % 3]!;

const sumOf = (amounts: readonly bigint[]): bigint => amounts.reduce((sum, amount) => sum + amount, 0n);

/** Stripe tells of an authorization and its captures in any order, and of each capture twice. */
function toldOfCard(payment: Payment): Sent[] {
  const purchase = { cardId, iauth: payment.iauth };
  const parts = { [String(UNIT)]: [100], "0": [] }[String(capturedOf(payment))] ?? [40, 30];
  const captures = parts.map((cents) => told("issuing_transaction.created", transaction(purchase, cents)));
  const created = authorization(purchase, { amount: Number(rails.card.atomic) });
  return [...captures, told("issuing_authorization.created", created), ...captures];
}

/** The requests that capture what capturedOf says. */
async function capturing(payment: Payment): Promise<Sent[]> {
  const { rail, authorizationId } = payment;
  const captured = capturedOf(payment);
  if (rail === "card") return toldOfCard(payment);
  if (captured === 0n) return [];
  if (rail === "record") {
    const parts = captured === UNIT ? [["paid", "1"]] : ["0.4", "0.3"].map((amount) => ["partlyPaid", amount]);
    return parts.map(([outcome, amount], part) => ({
      path: `/payments/${authorizationId}/record`,
      body: { idempotencyKey: `${authorizationId}-${part}`, outcome, amount, asset: USD.asset },
      as: asAgent,
    }));
  }
  const payTo = lower(payees[rail].payTo);
  const expected = { asset: assetOf(CHAIN, rail)!, amount: rails[rail].atomic, payTo, maxTimeoutSeconds: 600 };
  const body = { authorizationId, idempotencyKey: `pay-${authorizationId}`, paymentCredential: await signed(wallet, expected) };
  return [{ path: "/payments/execute", body, as: asAgent }];
}

type Execution = { readonly executionId: string; readonly settlementStatus: string };

const executionsOf = async ({ authorizationId }: Payment): Promise<readonly Execution[]> =>
  (await read<{ executions: readonly Execution[] }>(`/payments/${authorizationId}`)).executions;

async function settledOf(payments: readonly Payment[]): Promise<readonly Execution[]> {
  const paid = payments.filter((payment) => isX402(payment.rail) && capturedOf(payment) > 0n);
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

/** What the mandate's page says of each rail, and of what a revocation keeps: all but what is held for x402. */
async function expectMandatePage(scope: Scope, mandateId: string, payments: readonly Payment[], capturedBy: Captured) {
  const { mandate, effect, rails: shown } = await viewMandate(scope, mandateId);
  const sumsOf = (counts: (rail: Rail) => boolean) => {
    const own = payments.filter(({ rail }) => counts(rail));
    const spent = sumOf(own.map(capturedBy));
    return { spent: text(spent), reserved: text(BigInt(own.length) * UNIT - spent) };
  };
  const [x402, kept] = [sumsOf(isX402), sumsOf((rail) => !isX402(rail))];
  const [record, card] = [sumsOf((rail) => rail === "record"), sumsOf((rail) => rail === "card")];
  expect(shown).toEqual(Object.entries({ x402, record, card }).map(([rail, sums]) => ({ rail, ...sums })));
  expect(effect).toMatchObject({ reserved: x402.reserved, kept: kept.reserved });
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
  for (const server of [0, 1]) {
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
    const answer = await read<{ receipt: string }>(path, at);
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
  const payments = await authorizeAll();
  await expectAgreement(mandateId, payments, () => 0n);
  const executions = await captureAll(mandateId, payments);
  await expectAgreement(mandateId, payments, capturedOf);
  await expectReceipts(payments, executions);
  for (const rail of ["USDC", "EURX"] as const) {
    const paid = payments.filter((payment) => payment.rail === rail && capturedOf(payment) > 0n);
    expect(await balanceOf(rail)).toBe(BigInt(paid.length) * rails[rail].atomic);
  }
});
