import { decodePaymentRequiredHeader } from "@x402/core/http";
import { ExactEvmScheme } from "@x402/evm/exact/server";
import { paymentMiddleware, x402ResourceServer } from "@x402/express";
import express from "express";
import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { challengeText, idOfPath, routesOf, snippets, type Coin, type ResourceOffer } from "#lib/pages/seller/snippets.ts";
import { useDatabase } from "#test/database.ts";
import { useSettlement } from "#test/payments.ts";
import { listen, stockFacilitator } from "#test/shop.ts";

useDatabase();
const chain = useSettlement();

const coin: Coin = {
  chain: "eip155:84532",
  asset: "USDC",
  tokenAddress: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  tokenName: "USDC",
  tokenVersion: "2",
  tokenDecimals: 6,
};
const offered: ResourceOffer = {
  resourceId: "reports-date",
  method: "GET",
  pathTemplate: "/reports/{date}",
  description: "The day's report",
  pricing: { type: "fixed", amount: "0.0025", asset: "USDC" },
  payTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
  maxTimeoutSeconds: 120,
  settlementMode: "facilitatorSettled",
};

describe("snippets for a seller's server", () => {
  test("have routes with which a standard x402 server sends the 402 response that is shown", async () => {
    const server = new x402ResourceServer(await stockFacilitator(chain())).register("eip155:84532", new ExactEvmScheme());
    const app = express();
    app.use(paymentMiddleware(routesOf(offered, coin), server));
    const shop = await listen(createServer(app));
    const reply = await fetch(`${shop.url}/reports/today`);
    await shop.close();
    expect(reply.status).toBe(402);
    const { accepts } = decodePaymentRequiredHeader(reply.headers.get("payment-required") ?? "");
    const shown = JSON.parse(challengeText(offered, coin, "data.example.com")) as { accepts: unknown };
    expect(accepts).toEqual(shown.accepts);
  });

  test("contain the facilitator, the route and the request that saves the resource", () => {
    const made = snippets(offered, coin, { origin: "https://pay.example", sellerId: "sel_1" });
    expect(made.map(({ name }) => name)).toEqual(["Express", "Hono", "Next.js", "curl"]);
    expect(made[0]?.text).toContain('url: "https://pay.example/api/x402"');
    expect(made[0]?.text).toContain('"GET /reports/:date"');
    const curl = made[3]?.text ?? "";
    expect(curl).toContain("https://pay.example/api/v1/seller/resources/reports-date");
    // A quote in a description does not end the string in the shell command.
    expect(curl).toContain("The day'\\''s report");
  });

  test("contain the seller's own facilitator if the seller's server settles", () => {
    const made = snippets({ ...offered, settlementMode: "offchainAuthorized" }, coin, {
      origin: "https://pay.example",
      sellerId: "sel_1",
    });
    for (const { text } of made.slice(0, 3)) {
      expect(text).toContain("new HTTPFacilitatorClient({ url: process.env.FACILITATOR_URL })");
      expect(text).not.toContain("pay.example");
    }
    expect(made[3]?.text).toContain('"settlementMode": "offchainAuthorized"');
  });

  test.each([
    ["/reports/{date}", "reports-date"],
    ["/", "root"],
    ["/v1/a.b/~c", "v1-a.b-c"],
  ])("the id of %s is %s", (path, id) => expect(idOfPath(path)).toBe(id));
});
