import { x402Client, x402HTTPClient } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { expect, onTestFinished, test } from "vitest";
import { startSeller } from "../examples/seller.ts";
import { approve, reject, reviewed, view } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newOrganization, type Owner } from "#test/identity.ts";
import { activeMandate, assets, CHAIN } from "#test/mandates.ts";
import { newWallet, useSettlement } from "#test/payments.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";
import { listenService, stockFacilitator } from "#test/shop.ts";

useDatabase();
const chain = useSettlement();

type Call = { readonly method: string; readonly path: string; readonly body?: Readonly<Record<string, unknown>> };
type Reply = {
  readonly policyDecision?: { readonly outcome: string; readonly reasons: readonly Asking[] };
  readonly next?: Call;
  readonly intent?: { readonly status: string };
  readonly continuationToken?: string;
  readonly code?: string;
  readonly nextActions?: readonly { readonly type: string; readonly metadata?: Record<string, Record<string, string>> }[];
  readonly credentialHeaders?: Record<string, string>;
};
type Asking = { readonly checkoutIntentId?: string; readonly href?: string; readonly pollWith?: Call; readonly next?: Call };

async function setScene() {
  const person = await newOrganization();
  const agent = await newKey(person);
  const owner = await newOrganization({ productRoles: ["seller"], name: "Shop" });
  const payTo = randomAddress();
  const { sellerId, resourceId } = await newSeller(owner.credential, { price: "0.25", payTo });
  const policy = { assets, limits: { perPayment: "1", total: "5" }, approval: { mode: "always" } };
  const mandateId = await activeMandate(person.credential, { policy });
  const wallet = newWallet();
  await chain().mint(wallet.address, 1_000_000n);
  const service = await listenService();
  onTestFinished(() => service.close());
  const seller = await startSeller({ facilitator: await stockFacilitator(chain()), payTo });
  onTestFinished(() => seller.close());
  const signer = new x402HTTPClient(new x402Client().register(CHAIN, new ExactEvmScheme(wallet)));
  const replies: Reply[] = [];
  /** Sends a request as an agent that knows only the address of the service and its own API key. */
  const send = async ({ method, path, body }: Call): Promise<Reply> => {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { ...agent.credential, ...(body && { "content-type": "application/json" }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const reply = (await response.json()) as Reply;
    replies.push(reply);
    return reply;
  };
  const unpaid = await fetch(`${seller.url}/report`);
  const challenge = signer.getPaymentRequiredResponse((name) => unpaid.headers.get(name));
  const first = (order: string): Call => ({
    method: "POST",
    path: "/api/v1/payments/authorize",
    body: {
      mandateId,
      intent: {
        idempotencyKey: order,
        seller: { sellerId },
        resource: { resourceId },
        amount: "0.25",
        asset: "USDC",
        challenge,
        expiresAt: new Date(Date.now() + 600_000).toISOString(),
      },
    },
  });
  const sign = async (paymentRequired: Readonly<Record<string, string>>): Promise<string> => {
    const payload = await signer.createPaymentPayload(signer.getPaymentRequiredResponse((name) => paymentRequired[name]));
    return signer.encodePaymentSignatureHeader(payload)["PAYMENT-SIGNATURE"] ?? "";
  };
  return { person, payTo, seller, replies, send, first, sign };
}
type Scene = Awaited<ReturnType<typeof setScene>>;

/**
 * Sends the request that each reply names, and signs if a reply asks for it, until a reply has the headers for the seller or
 * names no further request.
 */
async function follow({ send, sign }: Scene, begin: Call): Promise<Reply> {
  let call: Call | undefined = begin;
  let reply: Reply = {};
  while (call && !reply.credentialHeaders) {
    reply = await send(call);
    const paymentRequired = reply.nextActions?.find(({ type }) => type === "sign_credential")?.metadata?.["paymentRequired"];
    call = paymentRequired ? { ...call, body: { ...call.body, paymentCredential: await sign(paymentRequired) } } : reply.next;
  }
  return reply;
}

const askingOf = ({ policyDecision }: Reply): Asking => policyDecision?.reasons.find(({ pollWith }) => pollWith) ?? {};

async function decide(person: Owner, { checkoutIntentId = "", href }: Asking, yes: boolean): Promise<void> {
  expect(href).toMatch(new RegExp(`/checkout/${checkoutIntentId}$`));
  if (!yes) {
    await view(checkoutIntentId, person.credential);
    expect((await reject(checkoutIntentId, person.credential)).status).toBe(200);
    return;
  }
  await reviewed(checkoutIntentId, person);
  expect((await approve(checkoutIntentId, person.credential)).status).toBe(200);
}

test("an agent that only follows the replies gets from requireApproval to the paid answer", async () => {
  const scene = await setScene();
  const { person, payTo, seller, replies, send, first } = scene;
  const asked = await send(first("followed"));
  expect(asked.policyDecision?.outcome).toBe("requireApproval");
  const asking = askingOf(asked);
  const done = follow(scene, asking.pollWith!);
  await expect.poll(() => replies.length).toBe(1);
  await decide(person, asking, true);
  const { credentialHeaders = {} } = await done;
  const paid = await fetch(`${seller.url}/report`, { headers: credentialHeaders });
  expect([paid.status, await paid.json()]).toEqual([200, { report: "all is well" }]);
  expect(await chain().balanceOf(payTo)).toBe(250_000n);
  // No reply contains a continuation token: only continueCheckout takes one, and a payment continues with executePayment.
  expect(replies.some(({ continuationToken }) => continuationToken !== undefined)).toBe(false);
});

test("the reply that asks for approval contains the call to make after the buyer has approved", async () => {
  const scene = await setScene();
  const asking = askingOf(await scene.send(scene.first("straight")));
  const early = await scene.send(asking.next!);
  expect(early.code).toBe("approval_required");
  expect(early.nextActions).toMatchObject([
    { type: "approve_checkout", metadata: { checkoutIntentId: asking.checkoutIntentId, pollWith: asking.pollWith } },
  ]);
  await decide(scene.person, asking, true);
  const { credentialHeaders = {} } = await follow(scene, asking.next!);
  expect((await fetch(`${scene.seller.url}/report`, { headers: credentialHeaders })).status).toBe(200);
});

test("the same payment requested twice leads to one approval and one payment, and a repeat gets the same bytes", async () => {
  const scene = await setScene();
  const first = await scene.send(scene.first("one"));
  const second = await scene.send(scene.first("two"));
  expect(askingOf(second)).toMatchObject({ ...askingOf(first) });
  expect(await scene.send(scene.first("one"))).toEqual(first);
  await decide(scene.person, askingOf(first), true);
  expect((await follow(scene, askingOf(second).pollWith!)).credentialHeaders).toBeDefined();
  expect((await follow(scene, askingOf(first).next!)).credentialHeaders).toBeDefined();
});

test("after a rejection no reply names a next call", async () => {
  const scene = await setScene();
  const asking = askingOf(await scene.send(scene.first("declined")));
  await decide(scene.person, asking, false);
  const ended = await follow(scene, asking.pollWith!);
  expect([ended.intent?.status, ended.next]).toEqual(["rejected", undefined]);
  expect((await scene.send(asking.next!)).code).toBe("approval_rejected");
});
