import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSeller, type Seller } from "../../examples/seller.ts";
import * as sdk from "../../sdk/src/index.ts";
import { admit, base64, offer, openSeller } from "#test/any-seller.ts";
import { approve, checkoutScene, reject, reviewed, type CheckoutScene } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, assets } from "#test/mandates.ts";
import { useSettlement } from "#test/payments.ts";
import { randomAddress } from "#test/sellers.ts";
import { settling } from "#test/settling.ts";
import { newKey } from "#test/identity.ts";
import { listenService, stockFacilitator, type ListeningServer } from "#test/shop.ts";

/* Tests the package `countersign` with the real service and a real chain. */

useDatabase();
const chain = useSettlement();

let scene: CheckoutScene;
let service: ListeningServer;
let seller: Seller;
let wallet: PrivateKeyAccount;
const payTo = randomAddress();
const prices = { "/report": "$0.25", "/archive": "$2" };

beforeAll(async () => {
  scene = await checkoutScene();
  service = await listenService();
  seller = await startSeller({ facilitator: await stockFacilitator(chain()), payTo, prices });
  admit(seller.url);
  wallet = await fundedWallet();
});
afterAll(() => Promise.all([service.close(), seller.close()]));

async function fundedWallet(): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  await chain().mint(account.address, 1_000_000_000n);
  return account;
}

const client = (options: Partial<sdk.CountersignOptions> = {}) =>
  sdk.countersign({ url: service.url, apiKey: scene.agent.apiKey, mandateId: scene.mandateId, wallet, ...options });

const caught = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "no error",
    (error: unknown) => error,
  );

const limits = { perPayment: "1", total: "100" };
const mandate = (policy: Record<string, unknown>) =>
  activeMandate(scene.person.credential, { policy: { assets, limits, sellers: { unregistered: "allow" }, ...policy } });

const checkoutIdIn = (url: string): string => new URL(url).pathname.split("/").at(-1) ?? "";

describe("the mandate", () => {
  test("is read as a budget, with the payment of 2 USDC of an operation and a receipt that can be verified", async () => {
    const pay = client();
    const answer = await pay.fetch(`${seller.url}/archive`, { operation: "read-daily" });
    expect([answer.status, await answer.json()]).toEqual([200, { report: "all is well" }]);
    const budget = await pay.budget();
    expect(budget.limits.find(({ pointer }) => pointer === "/limits/budgets/0")).toMatchObject({ unit: "USDC", limit: "500" });
    const { items: payments } = await pay.payments({ operation: "read-daily" });
    expect(payments).toMatchObject([{ intent: { amount: "2" }, executions: [{ authorizationId: expect.any(String) }] }]);
    const receipt = await pay.api.getExecutionReceipt({ executionId: payments[0]?.executions[0]?.executionId ?? "" });
    expect(await pay.verifyReceipt(receipt)).toMatchObject({ ok: true });
    expect(await pay.verifyReceipt({ ...receipt, receipt: `${receipt.receipt}A` })).toMatchObject({ ok: false });
  });

  test("that denies gives its reasons, and the answer of a seller that asks for no payment is returned", async () => {
    const pay = client({ mandateId: await mandate({ limits: { perPayment: "0.1", total: "1" } }) });
    const denied = await caught(pay.fetch(`${seller.url}/report`));
    expect(denied).toBeInstanceOf(sdk.PaymentDenied);
    expect(denied).toMatchObject({ denialCode: "per_payment_limit_exceeded", reasons: expect.any(Array) });
    expect((await pay.fetch(`${seller.url}/nothing`)).status).toBe(404);
  });
});

describe("a person", () => {
  test("is asked, and the payment continues after the approval", async () => {
    const asked: string[] = [];
    const pay = client({
      mandateId: await mandate({ approval: { mode: "always" } }),
      onApproval: ({ url }) => void asked.push(url),
    });
    const answer = pay.fetch(`${seller.url}/report`, { purpose: "the daily report" });
    await expect.poll(() => asked.length).toBe(1);
    const id = checkoutIdIn(asked[0] ?? "");
    await reviewed(id, scene.person);
    expect((await approve(id, scene.person.credential)).status).toBe(200);
    expect((await answer).status).toBe(200);
  });

  test("is named to a caller that stops waiting, who pays with the same operation after the approval", async () => {
    const mandateId = await mandate({ approval: { mode: "always" } });
    const pay = client({ mandateId, onApproval: () => "stop" });
    const stopped = await caught(pay.fetch(`${seller.url}/report`, { operation: "stopped" }));
    expect(stopped).toBeInstanceOf(sdk.ApprovalRequired);
    const { apiKey } = await newKey(scene.person, ["payments:authorize", "payments:execute", "mandates:read"]);
    const blind = client({ mandateId, apiKey, onApproval: () => "stop" });
    expect(await caught(blind.fetch(`${seller.url}/report`))).toBeInstanceOf(sdk.ApprovalRequired);
    const id = checkoutIdIn((stopped as sdk.ApprovalRequired).url);
    await reviewed(id, scene.person);
    await approve(id, scene.person.credential);
    expect((await pay.fetch(`${seller.url}/report`, { operation: "stopped" })).status).toBe(200);
    expect((await pay.payments({ operation: "stopped" })).items).toHaveLength(1);
  });

  test("is asked once for two operations with the same payment, and only one of them pays", async () => {
    const mandateId = await mandate({ approval: { mode: "always" } });
    const pay = client({ mandateId, onApproval: () => "stop", followSeconds: 0 });
    const fetched = (operation: string) => caught(pay.fetch(`${seller.url}/report`, { operation }));
    const approved = async (...operations: readonly string[]): Promise<void> => {
      const urls = new Set<string>();
      for (const operation of operations) urls.add(((await fetched(operation)) as sdk.ApprovalRequired).url);
      const [id = "", ...more] = [...urls].map(checkoutIdIn);
      expect(more).toEqual([]);
      await reviewed(id, scene.person);
      await approve(id, scene.person.credential);
    };
    await approved("ask 1", "ask 2");
    expect(await fetched("ask 1")).toBe("no error");
    const isRefused = async (operation: string): Promise<void> => {
      const error = await fetched(operation);
      expect(error).toBeInstanceOf(sdk.AuthorizationEnded);
      expect(error).toMatchObject({ message: expect.stringContaining("Nothing was paid for this operation.") });
    };
    await isRefused("ask 2");
    // The second operation can pay instead of the first. A repeat of it shows its credential again, which the seller accepts
    // only once, and nothing is paid for the first operation.
    await approved("ask 3", "ask 4");
    expect(await fetched("ask 4")).toBe("no error");
    expect(await fetched("ask 4")).toBeInstanceOf(sdk.NotServed);
    await isRefused("ask 3");
  });

  test("who declines ends the call, and so does an abort", async () => {
    const mandateId = await mandate({ approval: { mode: "always" } });
    const stop = new AbortController();
    const aborted = client({ mandateId, onApproval: () => stop.abort(new Error("enough")) });
    expect(await caught(aborted.fetch(`${seller.url}/report`, { operation: "ended", signal: stop.signal }))).toMatchObject({
      message: "enough",
    });
    const declined = client({
      mandateId,
      onApproval: async ({ url }) => void (await reject(checkoutIdIn(url), scene.person.credential)),
    });
    expect(await caught(declined.fetch(`${seller.url}/report`, { operation: "ended" }))).toBeInstanceOf(sdk.ApprovalDeclined);
  });
});

describe("errors", () => {
  test("an empty wallet fails the payment; after it is funded, the same operation pays with the first hold", async () => {
    const poor = privateKeyToAccount(generatePrivateKey());
    const pay = client({ wallet: poor });
    const failed = await caught(pay.fetch(`${seller.url}/report`, { operation: "poor" }));
    expect(failed).toBeInstanceOf(sdk.PaymentFailed);
    expect(failed).toMatchObject({ code: "insufficient_funds", nextActions: expect.arrayContaining([expect.anything()]) });
    await chain().mint(poor.address, 1_000_000n);
    expect((await pay.fetch(`${seller.url}/report`, { operation: "poor" })).status).toBe(200);
    expect((await pay.payments({ operation: "poor" })).items).toHaveLength(1);
    expect(await chain().balanceOf(poor.address)).toBe(750_000n);
  });

  test("a signed payment whose answer was lost is shown again; if the seller has already delivered, the error has the receipt", async () => {
    const buyer = await fundedWallet();
    let broken = "";
    const flaky: typeof fetch = async (input, init) => {
      const isPaid = input instanceof Request && input.headers.has("payment-signature");
      if (isPaid && broken === "before") return ((broken = ""), Promise.reject(new TypeError("fetch failed")));
      const answer = await fetch(input, init);
      if (isPaid && broken === "after") return ((broken = ""), Promise.reject(new TypeError("terminated")));
      return answer;
    };
    const pay = client({ wallet: buyer, fetch: flaky, followSeconds: 120 });
    broken = "before";
    expect((await pay.fetch(`${seller.url}/report`)).status).toBe(200);
    broken = "after";
    const lost = await settling(caught(pay.fetch(`${seller.url}/report`)));
    expect(lost).toBeInstanceOf(sdk.PaidButNotServed);
    expect(lost).toMatchObject({ execution: { settlementStatus: "settled" }, receipt: { receipt: expect.any(String) } });
    expect(await chain().balanceOf(buyer.address)).toBe(1_000_000_000n - 500_000n);
  });

  test("a seller that never delivers is not paid again: each call shows the same signed payment", async () => {
    const shown = new Set<string>();
    const terms = offer();
    let count = 0;
    const url = await openSeller((request, response) => {
      const credential = request.headers["payment-signature"];
      if (typeof credential === "string") shown.add(credential);
      count += 1;
      // The 402 is different each time, as with sellers that put a number into it.
      const required = { x402Version: 2, resource: { url: `${url}/x` }, accepts: [terms], extensions: { quote: { count } } };
      response.writeHead(402, { "payment-required": base64(required) }).end();
    });
    const pay = client({ followSeconds: 0 });
    for (let call = 0; call < 2; call += 1)
      expect(await caught(pay.fetch(`${url}/x`, { operation: "never-served" }))).toBeInstanceOf(sdk.NotServed);
    expect(shown.size).toBe(1);
    expect((await pay.payments({ operation: "never-served" })).items).toMatchObject([{ executions: [expect.anything()] }]);
  });

  test("a seller that never answers cannot be reached, and one that is silent after the payment is paid but did not serve", async () => {
    const silent = await openSeller(() => {});
    const unanswered = await caught(client({ sellerSeconds: 0.5 }).fetch(silent));
    expect(unanswered).toBeInstanceOf(sdk.SellerUnreachable);
    expect(unanswered).toMatchObject({
      message: expect.stringContaining("no answer came within 0.5 seconds. Nothing was paid."),
    });
    let paid = 0;
    const url = await openSeller(async ({ headers: { "payment-signature": credential } }, response) => {
      const headers = typeof credential === "string" ? { "payment-signature": credential } : {};
      const answer = await fetch(`${seller.url}/report`, { headers });
      if (credential) return void (paid += 1);
      return response.writeHead(402, { "payment-required": answer.headers.get("payment-required") ?? "" }).end();
    });
    const lost = await settling(caught(client({ sellerSeconds: 3, followSeconds: 120 }).fetch(url)));
    expect(lost).toBeInstanceOf(sdk.PaidButNotServed);
    expect(lost).toMatchObject({ execution: { settlementStatus: "settled" }, receipt: { receipt: expect.any(String) } });
    expect(paid).toBe(1);
  });

  test("the error keeps the last answer of a seller that then hangs up", async () => {
    const answers = [500, 0, 0];
    const url = await openSeller((request, response) => {
      if (!request.headers["payment-signature"]) {
        const required = { x402Version: 2, resource: { url: `${url}/x` }, accepts: [offer()] };
        return response.writeHead(402, { "payment-required": base64(required) }).end();
      }
      return answers.shift() ? response.writeHead(500).end() : response.destroy();
    });
    const lost = await caught(client({ followSeconds: 0 }).fetch(`${url}/x`));
    expect(lost).toMatchObject({ response: { status: 500 } });
    expect(answers).toEqual([]);
  });

  test("a 402 for another host, without an offer that fits, or of an unknown form is refused before anything is signed", async () => {
    const elsewhere = { x402Version: 2, resource: { url: "https://shop.example.com/x" }, accepts: [offer()] };
    const refusing = async (body: unknown) => {
      const url = await openSeller((_, response) => response.writeHead(402, { "payment-required": base64(body) }).end());
      return caught(client().fetch(url));
    };
    expect(await refusing(elsewhere)).toMatchObject({ message: "The 402 of 127.0.0.1 is for https://shop.example.com/x." });
    const other = { ...offer(), network: "eip155:1" };
    const unfit = await refusing({ ...elsewhere, resource: { url: "http://127.0.0.1/x" }, accepts: [other] });
    expect(unfit).toBeInstanceOf(sdk.ChallengeRefused);
    expect(await refusing("nothing")).toBeInstanceOf(sdk.ChallengeRefused);
  });

  test("a wrong key is refused by the service, and a missing mandate by the client", async () => {
    const wrong = await caught(client({ apiKey: "csk_sandbox_wrong" }).fetch(`${seller.url}/report`));
    expect(wrong).toBeInstanceOf(sdk.ServiceRefused);
    expect(wrong).toMatchObject({ status: 401 });
    expect(() => client({ mandateId: "" })).toThrow("mandateId is missing");
  });
});

test("a seller of x402 version 1 gets an X-PAYMENT header", async () => {
  const { amount, network: _, ...rest } = offer();
  let credential: unknown;
  const url = await openSeller((request, response) => {
    const header = request.headers["x-payment"];
    if (typeof header === "string") {
      credential = JSON.parse(Buffer.from(header, "base64").toString());
      return response.end("served");
    }
    const words = { description: "", mimeType: "" };
    const old = { ...rest, ...words, network: "base-sepolia", maxAmountRequired: amount, resource: `${url}/old` };
    return response.writeHead(402).end(JSON.stringify({ x402Version: 1, error: "payment required", accepts: [old] }));
  });
  const answer = await client().fetch(`${url}/old`, { method: "POST", body: "a question" });
  expect([answer.status, await answer.text()]).toEqual([200, "served"]);
  expect(credential).toMatchObject({ x402Version: 1, network: "base-sepolia", payload: { authorization: { value: amount } } });
});

test("a seller behind a redirect is paid, and does not get the caller's secrets", async () => {
  const terms = offer();
  const seen: unknown[] = [];
  const shop = await openSeller((request, response) => {
    seen.push(request.headers.authorization);
    if (request.headers["payment-signature"]) return response.end("served");
    const required = { x402Version: 2, resource: { url: `${shop}/there` }, accepts: [terms] };
    return response.writeHead(402, { "payment-required": base64(required) }).end();
  });
  const gate = await openSeller((_, response) => response.writeHead(302, { location: `${shop}/there` }).end());
  const answer = await client().fetch(`${gate}/here`, { headers: { authorization: "Bearer of the gate" } });
  expect([answer.status, await answer.text(), answer.url]).toEqual([200, "served", `${shop}/there`]);
  expect(seen).toEqual([undefined, undefined]);
});
