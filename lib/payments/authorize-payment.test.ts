import { eq } from "drizzle-orm";
import fc from "fast-check";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { reservationIdOf } from "#lib/holds/ids.ts";
import { mandateLedger } from "#lib/mandates/tables.ts";
import { resources } from "#lib/sellers/tables.ts";
import { ask, authorizationsOf, holdsOf, newIntent, outcomes, post, storedOf } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, CHAIN, createBuyer, draftMandate, eventsOf, policy, type Buyer } from "#test/mandates.ts";
import { createAgent, createPerson } from "#test/tenant.ts";

useDatabase();

let buyer: Buyer;
let mandateId: string;
beforeAll(async () => {
  buyer = await createBuyer();
  mandateId = await newMandate();
});
afterEach(async () => expect(await brokenSums()).toEqual([]));

const newMandate = (rules: Record<string, unknown> = {}) =>
  activeMandate(buyer.person.credential, { policy: { ...policy, limits: { perPayment: "1", total: "1000" }, ...rules } });

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();

describe("authorizePayment", () => {
  test("an allow is stored with its hold, its ledger entry and one audit event before the answer", async () => {
    const { status, text, replayed, data } = await ask(buyer, mandateId);
    expect([status, replayed]).toEqual([200, false]);
    const { outcome, reasons, denialCode, reservationId } = data.policyDecision;
    expect([outcome, denialCode]).toEqual(["allow", undefined]);
    expect(new Set(reasons.map(({ effect }) => effect))).toEqual(new Set(["allow"]));
    expect(await storedOf(data.authorizationId)).toMatchObject({ answer: text, held: true, outcome, amount: 500_000n });
    const hold = (await holdsOf(mandateId)).find((one) => reservationIdOf(one) === reservationId);
    expect(hold).toMatchObject({ status: "held", amount: 500_000n, expiresAt: new Date(data.expiresAt) });
    const ledger = await database().select().from(mandateLedger).where(eq(mandateLedger.authorizationId, data.authorizationId));
    expect(ledger.map(({ kind, amount }) => [kind, amount])).toEqual([["hold", 500_000n]]);
    const events = await eventsOf(data.authorizationId);
    expect(events.map(({ type }) => type)).toEqual(["payment.authorized"]);
  });

  test("an authorization expires with its intent, after 15 minutes, or with the mandate, whichever is first", async () => {
    const expiresAt = inMinutes(5);
    expect((await ask(buyer, mandateId, { expiresAt })).data.expiresAt).toBe(expiresAt);
    const { data } = await ask(buyer, mandateId, { expiresAt: inMinutes(60) });
    expect(Date.parse(data.expiresAt) - Date.parse(data.policyDecision.createdAt)).toBe(15 * 60_000);
    const validUntil = inMinutes(3);
    expect((await ask(buyer, await newMandate({ validUntil }))).data.expiresAt).toBe(validUntil);
  });

  test("a deny is a stored 200 without a hold, and its authorization has expired at once", async () => {
    const denied = await createBuyer({ price: "2" });
    const own = await activeMandate(denied.person.credential);
    const { status, text, data } = await ask(denied, own, { amount: "2" });
    const { outcome, denialCode, reservationId, createdAt, reasons } = data.policyDecision;
    expect([status, outcome, denialCode, reservationId]).toEqual([200, "deny", "per_payment_limit_exceeded", undefined]);
    expect(data.expiresAt).toBe(createdAt);
    expect(reasons.find(({ code }) => code === denialCode)).toMatchObject({ limit: "1", requested: "2", unit: "USDC" });
    expect(await storedOf(data.authorizationId)).toMatchObject({ answer: text, held: false });
    expect(await holdsOf(own)).toEqual([]);
    expect((await eventsOf(data.authorizationId)).map(({ type }) => type)).toEqual(["payment.denied"]);
  });

  test("requireApproval takes a hold, and the same payment asked again takes no second hold", async () => {
    const own = await newMandate({ approval: { mode: "always" } });
    const [first, second] = [await ask(buyer, own), await ask(buyer, own)];
    expect(outcomes([first, second])).toEqual({ requireApproval: 2 });
    const asks = first.data.policyDecision.reasons.filter(({ effect }) => effect !== "allow");
    expect(asks).toMatchObject([{ code: "approval_required", effect: "approval", pointer: "/approval" }]);
    expect(second.data.policyDecision.reasons.at(-1)).toMatchObject({
      code: "request_repeated",
      effect: "info",
      authorizationId: first.data.authorizationId,
      resumable: true,
    });
    const stranger = await createAgent(buyer.organizationId, ["payments:authorize"]);
    const third = (await ask(buyer, own, {}, stranger.credential)).data.policyDecision.reasons;
    expect(third.at(-1)).toMatchObject({ authorizationId: first.data.authorizationId, resumable: false });
    expect(third.flatMap(({ next }) => next ?? [])).toEqual([]);
    expect(first.data.policyDecision.reservationId).toMatch(/^rsv_/);
    expect(second.data.policyDecision.reservationId).toBeUndefined();
    expect((await holdsOf(own)).map(({ status, amount }) => [status, amount])).toEqual([["held", 500_000n]]);
    expect((await eventsOf(second.data.authorizationId)).map(({ type }) => type)).toEqual(["payment.approvalRequired"]);
    const together = await Promise.all(Array.from({ length: 8 }, () => ask(buyer, own)));
    expect(outcomes(together)).toEqual({ requireApproval: 8 });
    expect(await holdsOf(own)).toHaveLength(1);
  });

  test("404 hides a mandate of another organization as if it did not exist", async () => {
    const foreign = await createBuyer();
    const replies = [await ask(foreign, mandateId), await ask(foreign, "mdt_unknown")];
    for (const { status, problem } of replies) expect([status, problem.code]).toEqual([404, "not_found"]);
    const [known, unknown] = replies.map(({ problem }) => ({ ...problem, requestId: "" }));
    expect(known).toEqual(unknown);
  });

  test("403 without payments:authorize, 401 without a credential, and nothing is stored", async () => {
    const own = await newMandate();
    const reader = await createAgent(buyer.organizationId, ["payments:read", "payments:execute", "mandates:read"]);
    const viewer = await createPerson(buyer.organizationId, "viewer");
    for (const { credential } of [reader, viewer]) {
      const { status, problem } = await ask(buyer, own, {}, credential);
      expect([status, problem.code]).toEqual([403, "capability_required"]);
    }
    expect((await ask(buyer, own, {}, {})).status).toBe(401);
    expect(await authorizationsOf(own)).toEqual([]);
  });

  test("a person may authorize like an agent, but is not one of a mandate's agents", async () => {
    expect(outcomes([await ask(buyer, mandateId, {}, buyer.person.credential)])).toEqual({ allow: 1 });
    const bound = await activeMandate(buyer.person.credential, { agents: [buyer.agent.serviceAccountId] });
    const { data } = await ask(buyer, bound, {}, buyer.person.credential);
    expect(data.policyDecision.denialCode).toBe("agent_not_bound");
    expect(outcomes([await ask(buyer, bound)])).toEqual({ allow: 1 });
  });

  test("400 without an idempotency key, which may be in the header or in the body", async () => {
    const { idempotencyKey: _, ...intent } = newIntent(buyer);
    const { status, problem } = await post({ mandateId, intent }, buyer.agent.credential);
    expect([status, problem.code]).toEqual([400, "idempotency_key_required"]);
    const headers = { ...buyer.agent.credential, "idempotency-key": `h-${intent.intentId}` };
    const [first, again] = [await post({ mandateId, intent }, headers), await post({ mandateId, intent }, headers)];
    expect([first.status, again.replayed, again.text]).toEqual([200, true, first.text]);
  });

  test.each([
    ["feeQuote", {}],
    ["settlementMode", "offchainAuthorized"],
    ["paymentProtocol", "x402"],
    ["credentialRequirements", {}],
    ["outcome", "allow"],
  ])("400 for %s, which only the service sets", async (name, value) => {
    const { status, problem } = await ask(buyer, mandateId, { [name]: value });
    expect([status, problem.errors?.map(({ pointer }) => pointer)]).toEqual([400, [`/intent/${name}`]]);
  });

  test.each([
    ["an amount with more digits than the asset has", { amount: "0.1234567" }, "/intent/amount"],
    ["an amount of nothing", { amount: "0" }, "/intent/amount"],
    ["an asset that is not configured", { asset: "EURC" }, "/intent/asset"],
    ["a chain that is not configured", { chain: "eip155:1" }, "/intent/asset"],
    ["an intent that lives for more than a day", { expiresAt: inMinutes(24 * 60 + 5) }, "/intent/expiresAt"],
  ])("400 for %s, and nothing is stored", async (_name, change, pointer) => {
    const own = await newMandate();
    const { status, problem } = await ask(buyer, own, change);
    expect([status, problem.errors?.map((error) => error.pointer)]).toEqual([400, [pointer]]);
    expect(await authorizationsOf(own)).toEqual([]);
  });

  test.each([
    ["an intent that has expired", { expiresAt: inMinutes(-1) }, "intent_expired"],
    ["another price than the registered one", { amount: "0.4" }, "challenge_mismatch"],
    ["an unknown seller", { seller: { sellerId: "sel_unknown" }, resource: { resourceId: "report" } }, "seller_not_allowed"],
    ["an unknown resource", { resource: { resourceId: "other" } }, "resource_not_allowed"],
    ["no resource", { resource: undefined }, "resource_not_allowed"],
  ])("%s is denied", async (_name, change, code) => {
    const { status, data } = await ask(buyer, mandateId, change);
    expect([status, data.policyDecision.outcome, data.policyDecision.denialCode]).toEqual([200, "deny", code]);
  });

  test("a decision is stored as data, without the words of its reasons", async () => {
    const { data } = await ask(buyer, mandateId);
    const stored = await storedOf(data.authorizationId);
    const { reasons } = data.policyDecision;
    expect(JSON.parse(stored?.findings ?? "")).toHaveLength(4 + reasons.length);
    expect(reasons.filter(({ message }) => stored?.findings.includes(message))).toEqual([]);
    expect(stored!.findings.length).toBeLessThan(JSON.stringify(reasons).length / 5);
  });

  test("a missing chain is taken from the resource, and the amount is stored in canonical form", async () => {
    const { data } = await ask(buyer, mandateId, { amount: "0.500000" });
    expect(data.policyDecision.outcome).toBe("allow");
    const stored = await storedOf(data.authorizationId);
    expect([stored?.chain, stored?.amount]).toEqual([CHAIN, 500_000n]);
    expect(stored?.intent).toMatchObject({ chain: CHAIN, amount: "0.5", settlementMode: "offchainAuthorized" });
  });

  test("denies a resource that cannot be paid", async () => {
    const other = await createBuyer();
    await database().update(resources).set({ paymentConfig: null }).where(eq(resources.sellerId, other.resource.sellerId));
    const { data } = await ask(other, await activeMandate(other.person.credential));
    expect(data.policyDecision.denialCode).toBe("resource_not_allowed");
  });

  test("a draft denies", async () => {
    const { mandateId: draft } = await draftMandate(buyer.person.credential);
    expect((await ask(buyer, draft)).data.policyDecision.denialCode).toBe("mandate_not_active");
  });
});

describe("free-form fields", () => {
  const word = fc.constantFrom("amount", "outcome", "mandateId", "sellerId", "payTo", "approved", "note");
  const value = fc.oneof(
    fc.boolean(),
    fc.integer(),
    fc.constantFrom("allow", "0", "0.01", "*"),
    fc.string({ unit: "grapheme-ascii" }),
  );
  const freeForm = fc.dictionary(word, fc.oneof(value, fc.dictionary(word, value), fc.array(value, { maxLength: 3 })));

  test("never change a decision or its reasons", async () => {
    const fixed = newIntent(buyer, { expiresAt: inMinutes(10) });
    const decided = async (change: Record<string, unknown>) => {
      const own = await newMandate();
      const intent = { ...fixed, idempotencyKey: own, ...change };
      const { data } = await post({ mandateId: own, intent }, buyer.agent.credential);
      const { outcome, reasons, denialCode } = data.policyDecision;
      return { outcome, reasons, denialCode };
    };
    const [allowed, denied] = [await decided({}), await decided({ amount: "0.6" })];
    expect([allowed.outcome, denied.outcome]).toEqual(["allow", "deny"]);
    await fc.assert(
      fc.asyncProperty(freeForm, freeForm, fc.boolean(), async (metadata, challenge, allow) => {
        const seller = { ...fixed.seller, name: JSON.stringify(metadata).slice(0, 200) };
        const other = { metadata, challenge, seller, createdAt: inMinutes(-1) };
        expect(await decided({ ...other, ...(!allow && { amount: "0.6" }) })).toEqual(allow ? allowed : denied);
      }),
      { numRuns: 30, seed: 20_261_121 },
    );
  });
});
