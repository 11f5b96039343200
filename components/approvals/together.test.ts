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

test.each([
  ["another domain", { domain: "other.example" }],
  ["another address", { payTo: "0xCD" }],
  ["another network", { view: { destination: { payTo: "0xAB", chain: "eip155:8453" } as CheckoutView["destination"] } }],
])("requests with %s are not approved together", (_, changes) => {
  expect(planTogether([request(), request(changes)]).refusal).toMatch(/same payee/);
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
  ["needs a passkey for its mandate", { mandate: { assuranceAsked: "passkeyApproved" } }, /passkey/],
  ["needs a passkey for its seller", { stepUp: { assuranceAsked: "passkeyApproved" } }, /passkey/],
  [
    "has a domain in another script",
    { view: { payee: { domain: "xn--shp-1na.example", unicodeDomain: "shöp.example" } as CheckoutView["payee"] } },
    /letters/,
  ],
  ["has hidden characters in its purpose", { view: { purpose: "for the\u202E team" } }, /hidden characters/],
  ["comes from a paused agent", { view: { agent: { ...request().agent, paused: true } } }, /paused/],
  ["is the first payment", { stepUp: { required: true, reasons: ["firstPayment"] } }, /first payment/],
  ["comes in an old session", { stepUp: { required: true, reasons: ["sessionAge"] } }, /15 minutes/],
  [
    "is above the limit",
    { stepUp: { required: true, reasons: ["amount"], limit: { above: "100.00 USDC", lately: "60.00 USDC" } } },
    /24 hours it is above 100.00 USDC/,
  ],
  [
    "is above the limit of unverified payees",
    { stepUp: { required: true, reasons: ["unverifiedPayee"], limit: { above: "25.00 USDC" } } },
    /not verified.*25.00 USDC/,
  ],
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

test("requests that are together above what may be approved without a proof of identity are decided alone", () => {
  const within = (room: string) => [request({ amount: "60", room }), request({ amount: "50", room })];
  expect(planTogether(within("110")).refusal).toBeNull();
  expect(planTogether(within("109.99")).refusal).toMatch(/^Together they pay 110.00 USDC.*109.99 USDC more/);
});

test("the smallest room counts if a payee has a verified and an unverified seller record", () => {
  const requests = [request({ amount: "20", room: "100" }), request({ amount: "20", room: "25" })];
  const refused = /25.00 USDC more/;
  expect(planTogether(requests).refusal).toMatch(refused);
  expect(planTogether(requests.toReversed()).refusal).toMatch(refused);
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
