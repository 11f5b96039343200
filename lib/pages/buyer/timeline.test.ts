import { describe, expect, test } from "vitest";
import { paymentTimeline, type Attempt, type PaymentFacts } from "#lib/pages/buyer/timeline.ts";

const at = (seconds: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, seconds));
const now = at(60);
const later = at(600);

const hold = { reservationId: "rsv_1", status: "held", createdAt: at(0), expiresAt: later, resolvedAt: null } as const;
const facts: PaymentFacts = {
  authorizationId: "aut_1",
  intentId: "i-1",
  outcome: "allow",
  createdAt: at(0),
  amount: "20.20 USDC",
  network: "Base Sepolia",
  asker: { subjectId: "sa_1", name: "Procurement agent", isServiceAccount: true, isReader: false },
  byCard: false,
  hold,
  asked: null,
  repeats: null,
  allowed: null,
  attempts: [],
  order: null,
};
const attempt: Attempt = {
  executionId: "exe_1",
  status: "pending",
  createdAt: at(10),
  resolvedAt: null,
  submitted: true,
  weSettle: false,
  transaction: null,
  failureCode: null,
  failureDetail: null,
  unknownSince: null,
  heldUntil: null,
};
const asked = { checkoutIntentId: "cki_1", status: "awaiting_approval", expiresAt: later, decided: null } as const;
const mira = { by: "Mira Okafor", at: at(30), yes: true, reason: null, takenBack: null };

const titles = (change: Partial<PaymentFacts>) =>
  paymentTimeline({ ...facts, ...change }, now).map(({ state, title }) => `${state ?? "-"} ${title}`);
const captured = { ...hold, status: "captured", resolvedAt: at(20) } as const;

describe("the timeline of a payment", () => {
  test.each(["pending", "processing", "unknown"] as const)("that is %s says until when its amount is held", (status) => {
    const attempts = [{ ...attempt, status, heldUntil: later, unknownSince: status === "unknown" ? at(15) : null }];
    const steps = paymentTimeline({ ...facts, attempts }, now);
    expect(steps.filter(({ heldUntil }) => heldUntil).map(({ state, heldUntil }) => [state, heldUntil])).toEqual([
      ["now", later],
    ]);
  });

  test.each<[string, Partial<PaymentFacts>, readonly string[]]>([
    ["denied, ends at once", { outcome: "deny", hold: null }, ["stopped Denied"]],
    [
      "denied, and then allowed once",
      { outcome: "deny", hold: null, allowed: { by: "Mira Okafor", at: at(40) } },
      ["stopped Denied", "done Allowed once"],
    ],
    ["allowed, waits for the agent", {}, ["done Authorized", "done Reserved", "now Waits for the agent", "- Settlement"]],
    [
      "not paid in time, is over",
      { hold: { ...hold, expiresAt: at(30) } },
      ["done Authorized", "done Reserved", "stopped Expired"],
    ],
    [
      "revoked, let its hold go",
      { hold: { ...hold, status: "released", resolvedAt: at(5) } },
      ["done Authorized", "done Reserved", "stopped Released"],
    ],
    [
      "sent, waits for the seller",
      { attempts: [attempt] },
      ["done Authorized", "done Reserved", "done Executed", "now Waits for the seller", "- Settlement"],
    ],
    [
      "that we settle, is under way",
      { attempts: [{ ...attempt, status: "processing", weSettle: true }] },
      ["done Authorized", "done Reserved", "done Executed", "now Being settled", "- Settlement"],
    ],
    [
      "unknown, says that it is asked for",
      { attempts: [{ ...attempt, status: "unknown", unknownSince: at(15) }] },
      ["done Authorized", "done Reserved", "done Executed", "now Outcome unknown", "- Settled or failed"],
    ],
    [
      "settled after all, keeps that it was unknown",
      {
        hold: captured,
        attempts: [{ ...attempt, status: "settled", unknownSince: at(15), resolvedAt: at(20), transaction: "0xab" }],
      },
      ["done Authorized", "done Reserved", "done Executed", "done Outcome unknown", "done Settled"],
    ],
    [
      "failed after it was sent, is over",
      {
        hold: { ...hold, status: "released", resolvedAt: at(20) },
        attempts: [{ ...attempt, status: "failed", failureCode: "transaction_reverted", resolvedAt: at(20) }],
      },
      ["done Authorized", "done Reserved", "done Executed", "stopped Failed"],
    ],
    [
      "with a refused credential, waits for another one",
      { attempts: [{ ...attempt, status: "failed", submitted: false, failureCode: "signature_invalid" }] },
      ["done Authorized", "done Reserved", "stopped Credential refused", "now Waits for the agent", "- Settlement"],
    ],
    [
      "tried twice, counts the attempts",
      {
        hold: captured,
        attempts: [
          { ...attempt, status: "failed", submitted: false, failureCode: "insufficient_funds" },
          { ...attempt, executionId: "exe_2", status: "settled", resolvedAt: at(20) },
        ],
      },
      ["done Authorized", "done Reserved", "stopped Credential refused", "done Executed (attempt 2)", "done Settled (attempt 2)"],
    ],
  ])("that was %s", (_, change, steps) => expect(titles(change)).toEqual(steps));

  test.each<[string, Partial<PaymentFacts>, readonly string[]]>([
    ["waits", { asked }, ["now Waits for a person", "- Execution", "- Settlement"]],
    ["waits under another request", {}, ["now Waits for a person", "- Execution", "- Settlement"]],
    [
      "was approved",
      { asked: { ...asked, status: "approved", decided: mira } },
      ["done Approved", "now Waits for the agent", "- Settlement"],
    ],
    [
      "was approved, and the approval was taken back",
      {
        asked: { ...asked, status: "rejected", decided: { ...mira, takenBack: { by: "Ben", at: at(40) } } },
        hold: { ...hold, status: "released" },
      },
      ["done Approved", "stopped Approval taken back", "stopped Released"],
    ],
    ["was declined", { asked: { ...asked, status: "rejected", decided: { ...mira, yes: false } } }, ["stopped Declined"]],
    ["was not decided in time", { asked: { ...asked, expiresAt: at(30) } }, ["stopped Not decided in time"]],
    [
      "was replaced",
      { asked: { ...asked, status: "superseded" }, hold: { ...hold, status: "released" } },
      ["stopped Replaced", "stopped Released"],
    ],
  ])("that a person is asked about %s", (_, change, steps) =>
    expect(titles({ outcome: "requireApproval", ...change })).toEqual(["done Asked for approval", "done Reserved", ...steps]),
  );

  test("names who decided and why, and has no two equal steps", () => {
    const declined = { ...asked, status: "rejected", decided: { ...mira, yes: false, reason: "We have one." } } as const;
    const steps = paymentTimeline({ ...facts, outcome: "requireApproval", asked: declined }, now);
    expect(steps.find(({ title }) => title === "Declined")?.text).toBe(
      "\u2068Mira Okafor\u2069 declined it. Nothing was paid. The reason given: “\u2068We have one.\u2069”",
    );
    const many = paymentTimeline({ ...facts, attempts: [attempt, { ...attempt, executionId: "exe_2" }] }, now);
    expect(new Set(many.map(({ title }) => title)).size).toBe(many.length);
  });

  test("contains the ids as evidence, and the order at the end", () => {
    const order = { orderId: "ord_1", status: "completed", at: at(25) } as const;
    const settled = { ...attempt, status: "settled", resolvedAt: at(20), transaction: "0xab" } as const;
    const steps = paymentTimeline({ ...facts, hold: captured, attempts: [settled], order }, now);
    expect(steps.flatMap(({ evidence }) => evidence.map(({ value }) => value))).toEqual([
      "aut_1",
      "i-1",
      "rsv_1",
      "exe_1",
      "0xab",
      "ord_1",
    ]);
    expect(steps.at(-1)).toMatchObject({ state: "done", title: "Order placed", at: at(25) });
    expect(paymentTimeline({ ...facts, order: { ...order, status: "paymentCredentialRequired" } }, now).at(-1)?.title).toBe(
      "Settlement",
    );
  });
});
