import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as sdk from "../sdk/src/index.ts";
import { base64, openSeller } from "#test/any-seller.ts";
import { checkoutScene, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { useSettlement } from "#test/payments.ts";
import { listenService, type ListeningServer } from "#test/shop.ts";

/* Payments by MPP with the package, the real service and a real chain, to sellers that mppx does not make. */

useDatabase();
const chain = useSettlement();

const wallet = privateKeyToAccount(generatePrivateKey());
let scene: CheckoutScene;
let service: ListeningServer;
beforeAll(async () => {
  scene = await checkoutScene();
  service = await listenService();
  await chain().mint(wallet.address, 1_000_000_000n);
});
afterAll(() => service.close());

const client = (options: Partial<sdk.CountersignOptions> = {}) =>
  sdk.countersign({ url: service.url, apiKey: scene.agent.apiKey, mandateId: scene.mandateId, wallet, ...options });

const caught = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

const x402 = { x402Version: 2, resource: { url: "http://127.0.0.1/x" } };
test.each([
  { challenges: [null] },
  { challenges: [1, "x", []] },
  { challenges: [{ method: "evm", request: null, header: null }] },
  { ...x402, accepts: [null, { network: null, extra: null }] },
  { ...x402, x402Version: 1, accepts: [{ network: { toString: 1, valueOf: 1 } }] },
])("a 402 with odd parts is refused as a 402: %j", async (body) => {
  const inBody = await openSeller((_, response) => response.writeHead(402).end(JSON.stringify(body)));
  const inHeader = await openSeller((_, response) => response.writeHead(402, { "payment-required": base64(body) }).end());
  for (const url of [inBody, inHeader]) expect(await caught(client().fetch(url))).toBeInstanceOf(sdk.ChallengeRefused);
  expect(await caught(client().credential(body, { url: inBody }))).toBeInstanceOf(sdk.ChallengeRefused);
});
