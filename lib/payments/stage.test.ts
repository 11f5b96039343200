import { describe, expect, test } from "vitest";
import { stageOf, type StageFacts } from "#lib/payments/stage.ts";

const now = new Date("2026-11-21T12:00:00.000Z");
const later = new Date(now.getTime() + 60_000);
const earlier = new Date(now.getTime() - 60_000);
const facts: StageFacts = {
  outcome: "allow",
  hold: { status: "held", expiresAt: later },
  checkout: null,
  repeats: null,
  attempts: [],
};
const asked = { ...facts, outcome: "requireApproval" } as const;

describe("the stage of a payment", () => {
  test.each<[string, Partial<StageFacts>, string]>([
    ["a denied one is denied", { outcome: "deny", hold: null }, "deny"],
    ["an allowed one is held for the agent", {}, "held"],
    ["a hold is expired after its expiry, also before the sweep", { hold: { status: "held", expiresAt: earlier } }, "expired"],
    ["a hold that was released", { hold: { status: "released", expiresAt: later } }, "released"],
    ["the live attempt counts, not the failed one", { attempts: ["failed", "unknown"] }, "unknown"],
    ["a failed attempt that may be repeated is held", { attempts: ["failed"] }, "held"],
    [
      "a failed attempt without a hold is failed",
      { attempts: ["failed"], hold: { status: "released", expiresAt: later } },
      "failed",
    ],
    ["a settled one is settled", { attempts: ["settled"], hold: { status: "captured", expiresAt: earlier } }, "settled"],
  ])("%s", (_, change, status) => expect(stageOf({ ...facts, ...change }, now).status).toBe(status));

  test.each<[string, Partial<StageFacts>, string]>([
    ["waits without a checkout of its own", {}, "requireApproval"],
    ["waits for a person", { checkout: { status: "awaiting_approval", expiresAt: later } }, "requireApproval"],
    ["is expired when nobody decided", { checkout: { status: "previewed", expiresAt: earlier } }, "expired"],
    ["is answered with another agent's request", { hold: null, repeats: { byOther: true } }, "otherAgentsRequest"],
    ["is answered with its agent's earlier request", { hold: null, repeats: { byOther: false } }, "earlierRequest"],
    ["is declined", { checkout: { status: "rejected", expiresAt: later } }, "rejected"],
    ["is approved and waits for the agent", { checkout: { status: "approved", expiresAt: later } }, "approved"],
    ["was canceled", { checkout: { status: "canceled", expiresAt: later } }, "canceled"],
    ["continues after the approval was used", { checkout: { status: "authorized", expiresAt: earlier } }, "held"],
    ["is settled at the end", { checkout: { status: "completed", expiresAt: earlier }, attempts: ["settled"] }, "settled"],
  ])("a payment that waits for approval %s", (_, change, status) =>
    expect(stageOf({ ...asked, ...change }, now).status).toBe(status),
  );
});
