import { expect, test } from "vitest";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { ProblemError } from "#lib/http/client.ts";
import type { ErrorBody } from "#lib/problem.ts";
import { decideEach } from "./decide-each.ts";
import { planTogether } from "./together.ts";

type Changes = {
  readonly id?: string;
  readonly amount?: string;
  readonly room?: string;
  readonly domain?: string;
  readonly payTo?: string;
  readonly view?: Partial<CheckoutView>;
  readonly stepUp?: Partial<CheckoutView["stepUp"]>;
  readonly mandate?: object;
};

let made = 0;

/** A request for approval with the fields that planTogether reads. */
function request({
  id = `chk_${++made}`,
  amount = "10",
  room = "100",
  domain = "shop.example",
  payTo = "0xAB",
  ...changes
}: Changes = {}) {
  const mandate = { mandateId: "mdt_1", match: true, assuranceAsked: "none", ...changes.mandate };
  return {
    intent: { checkoutIntentId: id, status: "awaiting_approval", amount, asset: "USDC", mandateId: "mdt_1" },
    payee: { domain },
    destination: { payTo, chain: "eip155:1" },
    amounts: { chargedAmount: amount },
    agent: { name: "Weather bot", isServiceAccount: true, isReader: false, active: true, paused: false },
    lines: [],
    mandates: [mandate],
    mayDecide: true,
    stepUp: { required: false, reasons: [], room, assuranceAsked: "none", ...changes.stepUp },
    ...changes.view,
  } as unknown as CheckoutView;
}

test("up to ten requests to one payee are approved together, with their sum", () => {
  const plan = planTogether([request({ amount: "0.1" }), request({ amount: "0.2", payTo: "0xab" })]);
  expect([plan.together.length, plan.alone, plan.refusal, plan.total, plan.asset]).toEqual([2, [], null, "0.3", "USDC"]);
  expect(planTogether(Array.from({ length: 10 }, () => request())).refusal).toBeNull();
  expect(planTogether(Array.from({ length: 11 }, () => request())).refusal).toMatch(/^At most 10/);
});

test("requests to several payees are approved together, and each payee is named with what it gets", () => {
  const plan = planTogether([
    request({ amount: "7.5" }),
    request({ amount: "15" }),
    request({ amount: "22.5", domain: "other.example" }),
    request({ amount: "1", domain: "other.example", payTo: "0xCD00000000000000000000000000000000000000" }),
  ]);
  expect([plan.refusal, plan.amount]).toEqual([null, "46"]);
  expect(plan.payees).toEqual([
    { name: "shop.example", charged: "22.50 USDC" },
    { name: "other.example (0xAB…0xAB)", charged: "22.50 USDC" },
    { name: "other.example (0xCD00…0000)", charged: "1.00 USDC" },
  ]);
});

test("payments that are made elsewhere to two accounts of one name have two payees", () => {
  const to = (value: string) => request({ payTo: "", view: { elsewhere: { reference: "1", account: { kind: "iban", value } } } });
  expect(planTogether([to("…3000"), to("…3000"), to("…7777")]).payees.map(({ name }) => name)).toEqual([
    "shop.example (…3000)",
    "shop.example (…7777)",
  ]);
});

test("requests on another network are not approved together", () => {
  const destination = { payTo: "0xAB", chain: "eip155:8453" } as CheckoutView["destination"];
  expect(planTogether([request(), request({ view: { destination } })]).refusal).toMatch(/same network/);
});

test.each<[string, Changes, RegExp]>([
  ["is decided", { view: { intent: { ...request().intent, status: "approved" } } }, /not open/],
  ["the person may not decide", { view: { mayDecide: false } }, /may not/],
  ["changed", { view: { before: { basketHash: "", displayAmount: "", payTo: "", shownAt: "" } } }, /changed/],
  ["has no mandate", { view: { mandates: [] } }, /mandate that pays/],
  ["its mandate does not cover", { mandate: { match: false } }, /does not cover/],
  [
    "has a look-alike payee",
    { view: { payee: { domain: "shop.example", looksLike: "sh0p.example" } as CheckoutView["payee"] } },
    /looks like/,
  ],
  ["needs a passkey that the person does not have", { mandate: { assuranceAsked: "passkeyApproved" } }, /you have none/],
  [
    "has a domain in another script",
    { view: { payee: { domain: "xn--shp-1na.example", unicodeDomain: "shöp.example" } as CheckoutView["payee"] } },
    /letters/,
  ],
  ["has hidden characters in its purpose", { view: { purpose: "for the\u202E team" } }, /hidden characters/],
  ["comes from a paused agent", { view: { agent: { ...request().agent, paused: true } } }, /paused/],
])("a request that %s is not approved together with others", (_, changes, why) => {
  const plan = planTogether([request(changes), request(), request()]);
  expect(plan.together).toHaveLength(2);
  expect(plan.alone[0]?.why).toMatch(why);
});

test("a request is decided alone if no other request can be approved with it", () => {
  const plan = planTogether([request(), request({ mandate: { match: false } })]);
  expect([plan.together, plan.refusal, plan.alone.map(({ why }) => why)]).toEqual([
    [],
    null,
    ["No other request can be approved with it.", "The mandate does not cover it."],
  ]);
});

const proof = (...all: readonly Changes[]) => planTogether(all.map(request)).proof;
const has = { hasPassword: true, hasPasskey: true };

test.each<[string, readonly Changes[], RegExp]>([
  ["are first payments", [{ stepUp: { required: true, reasons: ["firstPayment"] } }, {}], /first payment to a seller/],
  ["come in an old session", [{}, { stepUp: { required: true, reasons: ["sessionAge"] } }], /15 minutes/],
  ["pay an unverified payee much", [{ stepUp: { required: true, reasons: ["unverifiedPayee"] } }, {}], /unverified payees/],
  ["are each above the limit", [{ stepUp: { required: true, reasons: ["amount"] } }, {}], /without a proof/],
  [
    "are only together above the room of a day",
    [
      { amount: "60", room: "109" },
      { amount: "50", room: "200" },
    ],
    /109.00 USDC/,
  ],
])("requests that %s ask for one proof, by any way that the person has", (_, [one, two], why) => {
  const asked = proof({ ...one, stepUp: { ...has, ...one?.stepUp } }, { ...two, stepUp: { ...has, ...two?.stepUp } });
  expect(asked).toMatchObject({ passkeyOnly: false, ways: ["passkey", "password"] });
  expect(asked?.why).toMatch(why);
});

test("one request that needs a passkey makes it the one proof of all", () => {
  const asked = proof({ mandate: { assuranceAsked: "passkeyApproved" }, stepUp: has }, { stepUp: has });
  expect(asked).toMatchObject({ passkeyOnly: true, ways: ["passkey"] });
});

test("no proof is asked within the room of a day, or if each request has one already", () => {
  expect(proof({ amount: "60", room: "110" }, { amount: "50", room: "110" })).toBeNull();
  const done = { stepUp: { required: true, done: true, reasons: ["amount" as const] }, room: "1" };
  expect(proof(done, done)).toBeNull();
  expect(proof(done, { room: "1" })).not.toBeNull();
});

test("decisions are sent one after another, each with its own idempotency key, and a failed decision is named with its reason", async () => {
  const sent: (readonly [string, string])[] = [];
  const outcomes: unknown[] = [];
  const refused = new ProblemError({ detail: "It is closed." } as ErrorBody);
  let open = 0;
  await decideEach(
    ["a", "b", "c", "d"],
    async (one, key) => {
      sent.push([one, key]);
      expect((open += 1)).toBe(1);
      await Promise.resolve();
      open -= 1;
      if (one === "b") throw refused;
      // The answer to the first attempt is lost.
      if (one === "c" && sent.length === 3) throw new TypeError("Failed to fetch");
      if (one === "d") throw new TypeError("Failed to fetch");
    },
    (one, outcome) => outcomes.push([one, outcome]),
  );
  expect(sent.map(([one]) => one)).toEqual(["a", "b", "c", "c", "d", "d"]);
  expect(new Set(sent.map(([one, key]) => `${one} ${key}`)).size).toBe(4);
  expect(new Set(sent.map(([, key]) => key)).size).toBe(4);
  expect(outcomes).toEqual([
    ["a", "done"],
    ["b", { why: "It is closed." }],
    ["c", "done"],
    ["d", { why: expect.stringMatching(/did not answer/) }],
  ]);
});
