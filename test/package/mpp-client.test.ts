import { getAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import * as sdk from "../../sdk/src/index.ts";
import { base64, offer, openSeller } from "#test/any-seller.ts";
import { approve, checkoutScene, reviewed, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets } from "#test/mandates.ts";
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

type Shown = {
  readonly challenge: { readonly id: string; readonly expires: string };
  readonly payload: { readonly to: string; readonly value: string; readonly validBefore: string };
};

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();

/** A seller whose challenge ends at `state.expires`. It serves whoever shows a credential, and keeps the credentials. */
async function openMppSeller(expires: string) {
  const state = { expires, shown: [] as Shown[] };
  const id = crypto.randomUUID();
  const { amount, asset: currency, payTo: recipient } = offer();
  const request = { amount, currency, recipient, methodDetails: { chainId: 84_532, credentialTypes: ["authorization"] } };
  const url = await openSeller(({ headers: { authorization } }, response) => {
    if (authorization?.startsWith("Payment ")) {
      state.shown.push(JSON.parse(Buffer.from(authorization.slice(8), "base64url").toString()) as Shown);
      return response.end("served");
    }
    const encoded = Buffer.from(JSON.stringify(request)).toString("base64url");
    const terms = `id="${id}", realm="shop", method="evm", intent="charge", request="${encoded}"`;
    const challenge = `Payment ${terms}, expires="${state.expires}"`;
    return response.writeHead(402, { "www-authenticate": challenge }).end();
  });
  return Object.assign(state, { url: `${url}/report`, recipient, amount });
}

function expectPaid({ shown: [first, ...more], recipient, amount }: Awaited<ReturnType<typeof openMppSeller>>): void {
  expect(more).toEqual([]);
  expect(first?.payload).toMatchObject({ to: getAddress(recipient), value: amount });
  expect(Number(first?.payload.validBefore) * 1_000).toBeLessThanOrEqual(Date.parse(first?.challenge.expires ?? ""));
}

test("a payment that a person approves later is signed with the challenge of then", async () => {
  const seller = await openMppSeller(inSeconds(600));
  const policy = { assets, limits: { perPayment: "1", total: "100" }, sellers: { unregistered: "allow" } };
  const mandateId = await activeMandate(scene.person.credential, { policy: { ...policy, approval: { mode: "always" } } });
  const pay = client({ mandateId, onApproval: () => "stop" });
  const stopped = await caught(pay.fetch(seller.url, { operation: "approved" }));
  expect(stopped).toBeInstanceOf(sdk.ApprovalRequired);
  const id = new URL((stopped as sdk.ApprovalRequired).url).pathname.split("/").at(-1) ?? "";
  await reviewed(id, scene.person);
  await approve(id, scene.person.credential);
  seller.expires = inSeconds(60);
  expect((await pay.fetch(seller.url, { operation: "approved" })).status).toBe(200);
  expectPaid(seller);
});

test("a call that ended after the authorization is repeated with less time left", async () => {
  const seller = await openMppSeller(inSeconds(600));
  const stop = new AbortController();
  const stopping: typeof fetch = (input, init) => {
    if (typeof input === "string" && input.endsWith("/payments/execute")) stop.abort(new Error("stopped"));
    return fetch(input, init);
  };
  const first = client({ fetch: stopping }).fetch(seller.url, { operation: "stopped", signal: stop.signal });
  expect(await caught(first)).toMatchObject({ message: "stopped" });
  seller.expires = inSeconds(60);
  const pay = client();
  expect((await pay.fetch(seller.url, { operation: "stopped" })).status).toBe(200);
  expectPaid(seller);
  expect((await pay.payments({ operation: "stopped" })).items).toHaveLength(1);
});

test("a challenge without a second left is refused before anything is reserved, and a repeat shows what was paid before", async () => {
  const seller = await openMppSeller(inSeconds(0));
  const pay = client();
  const refused = await caught(pay.fetch(seller.url, { operation: "late" }));
  expect(refused).toBeInstanceOf(sdk.ChallengeRefused);
  expect(refused).toMatchObject({ message: expect.stringContaining("expired"), nextActions: [{ type: "retry_later" }] });
  expect(await caught(pay.fetch(seller.url))).toBeInstanceOf(sdk.ChallengeRefused);
  expect((await pay.payments({ operation: "late" })).items).toEqual([]);
  seller.expires = inSeconds(600);
  expect((await pay.fetch(seller.url, { operation: "late" })).status).toBe(200);
  seller.expires = inSeconds(0);
  expect((await pay.fetch(seller.url, { operation: "late" })).status).toBe(200);
  expect(seller.shown[1]).toEqual(seller.shown[0]);
});

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
