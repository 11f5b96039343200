import { expect, test } from "vitest";
import type { PaymentIntent } from "#lib/payment-intent.ts";
import { basketOfPayment } from "#lib/payments/open-checkout.ts";

const offer = {
  scheme: "exact",
  network: "eip155:84532",
  amount: "250000",
  asset: `0x${"11".repeat(20)}`,
  maxTimeoutSeconds: 60,
};
const challengeAt = (url: string) => ({
  x402Version: 2,
  resource: { url, description: "", mimeType: "application/json" },
  accepts: [{ ...offer, payTo: `0x${"22".repeat(20)}`, extra: {} }],
});

const nameOf = (resource: Record<string, unknown>, url?: string) => {
  const intent = {
    amount: "0.25",
    asset: "USDC",
    resource: { resourceId: "station", method: "GET", ...resource },
    ...(url !== undefined && { challenge: challengeAt(url) }),
  } as unknown as PaymentIntent;
  const payment = { sellerId: "sel_1", resourceId: "station", domain: "shop.example", tokenDecimals: 6, intent };
  return basketOfPayment(payment).basket.lines[0]?.name;
};

const template = { pathTemplate: "/stations/{station}" };

test.each([
  ["its description", { ...template, description: "Weather" }, "https://shop.example/stations/oslo", "Weather"],
  ["its path", { pathTemplate: "/report" }, undefined, "GET /report"],
  ["the path that was asked for", template, "https://shop.example/stations/oslo?day=1", "GET /stations/oslo"],
  ["its id if another path was asked for", template, "https://shop.example/elsewhere", "station"],
  ["its id if no path is known", template, undefined, "station"],
])("the item of a registered resource is named by %s, never by a placeholder", (_, resource, url, name) => {
  expect(nameOf(resource, url)).toBe(name);
});
