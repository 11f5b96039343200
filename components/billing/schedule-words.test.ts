import { expect, test } from "vitest";
import type { FeeSchedule } from "#lib/billing/billing-schema.ts";
import { appliesText, chargeText } from "./schedule-words.ts";

const schedule: FeeSchedule = {
  feeScheduleId: "fs_1",
  name: "Test",
  status: "active",
  feePayer: "buyer",
  feeRecipient: "service",
  percentageBps: 0,
  flatAmount: "0",
  includedMonthlyVolume: 0,
  effectiveFrom: "2026-01-01T00:00:00.000Z",
  createdAt: "2026-01-01T00:00:00.000Z",
  updatedAt: "2026-01-01T00:00:00.000Z",
};

test.each([
  [{}, "Nothing", "Every payment"],
  [{ percentageBps: 25 }, "0.25 %", "Every payment"],
  [{ percentageBps: 100, asset: "USDC", flatAmount: "0.01" }, "1 % + 0.01 USDC", "Every payment, USDC"],
  [
    { percentageBps: 150, asset: "USDC", minimumFeeAmount: "0.001", maximumFeeAmount: "2", planTier: "team" as const },
    "1.5 %, at least 0.001 USDC, at most 2.00 USDC",
    "Buyers with the team plan, USDC",
  ],
  [
    { asset: "USDC", minimumFeeAmount: "0.1", sellerOrganizationId: "org_1" },
    "at least 0.10 USDC",
    "Payments to one seller, USDC",
  ],
])("%j reads as %s on %s", (terms, charge, applies) => {
  expect(chargeText({ ...schedule, ...terms })).toBe(charge);
  expect(appliesText({ ...schedule, ...terms })).toBe(applies);
});
