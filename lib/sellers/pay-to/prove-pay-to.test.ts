import { eq } from "drizzle-orm";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import * as sellersContract from "#lib/sellers/contract.ts";
import { getResource } from "#lib/sellers/resources/get-resource.ts";
import { listResources } from "#lib/sellers/resources/list-resources.ts";
import * as contract from "#lib/sellers/pay-to/contract.ts";
import { provePayTo } from "#lib/sellers/pay-to/prove-pay-to.ts";
import { payToChallenges, payToProofs, sellers } from "#lib/sellers/tables.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import { newWallet, useSettlement } from "#test/payments.ts";
import { challenge, newOwner, unprovenPayTo, type Owner } from "#test/pay-to.ts";
import { mayReach, openPaywall } from "#test/paywall.ts";
import { createOfficial, stopNow } from "#test/platform.ts";
import { newSeller, randomAddress } from "#test/sellers.ts";
import { send } from "#test/tenant.ts";

useDatabase();
const chain = useSettlement();

let owner: Owner;
let other: Owner;
beforeAll(async () => {
  [owner, other] = [await newOwner(), await newOwner()];
});

const prove = ({ as }: Owner, body: Record<string, unknown>, key?: string) =>
  send(contract.provePayTo, provePayTo, { as, body, ...(key !== undefined && { key }) });

const unproven = (by = owner, wallet?: PrivateKeyAccount) => unprovenPayTo(by, wallet);

const isListedAsProven = async ({ as }: Owner, sellerId: string) => {
  const query = `?sellerId=${sellerId}`;
  const one = await send(sellersContract.getResource, getResource, { as, id: "report", query });
  const list = await send(sellersContract.listResources, listResources, { as, query });
  expect(list.data.items.map(({ payToProven }) => payToProven)).toEqual([one.data.payToProven]);
  return one.data.payToProven;
};

/** The code of a contract that answers every isValidSignature with ERC-1271's magic value, as if the signature were valid. */
const AGREES = "0x631626ba7e60e01b60005260206000f3";

describe("provePayTo by a signature", () => {
  test("200 proves the key on every chain, once, with an event, and the resource is listed as proved", async () => {
    const { seller, wallet, challengeId, text } = await unproven();
    expect(await isListedAsProven(owner, seller.sellerId)).toBe(false);
    const body = { method: "signature", challengeId, signature: await wallet.signMessage({ message: text }) };
    const first = await prove(owner, body, "prove-1");
    const address = wallet.address.toLowerCase();
    expect([first.status, first.data]).toMatchObject([200, { payTo: address, method: "signature", sellerId: seller.sellerId }]);
    expect("chain" in first.data).toBe(false);
    expect(await isListedAsProven(owner, seller.sellerId)).toBe(true);
    expect((await eventsAbout(address)).map(({ type, chain }) => [type, chain])).toEqual([
      ["payTo.proven", owner.organizationId],
    ]);
    const replayed = await prove(owner, body, "prove-1");
    expect([replayed.headers.get("idempotent-replayed"), replayed.data]).toEqual(["true", first.data]);
    expect((await prove(owner, body)).problem.code).toBe("conflict");
  });

  test("four calls at once use a text only once", async () => {
    const { wallet, challengeId, text } = await unproven();
    const signature = await wallet.signMessage({ message: text });
    const replies = await Promise.all([1, 2, 3, 4].map(() => prove(owner, { method: "signature", challengeId, signature })));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409]);
  });

  test("400 for a signature of another key, another text or wrong bytes; 409 after the expiry; 404 for another organization", async () => {
    const { wallet, challengeId, text } = await unproven();
    const message = text;
    const signatures = [
      await newWallet().signMessage({ message }),
      await wallet.signMessage({ message: text.replace("sandbox", "production") }),
      await wallet.signMessage({ message: { raw: "0x00" } }),
      "0x",
      `0x${"00".repeat(65)}`,
      "0x1234",
    ];
    for (const signature of signatures) {
      const { status, problem } = await prove(owner, { method: "signature", challengeId, signature });
      expect([status, problem.errors?.[0]?.pointer]).toEqual([400, "/signature"]);
    }
    const good = { method: "signature", challengeId, signature: await wallet.signMessage({ message }) };
    expect((await prove(other, good)).status).toBe(404);
    await database().update(payToChallenges).set({ expiresAt: new Date() }).where(eq(payToChallenges.challengeId, challengeId));
    expect((await prove(owner, good)).problem.code).toBe("conflict");
    expect(await database().select().from(payToProofs).where(eq(payToProofs.address, wallet.address.toLowerCase()))).toEqual([]);
  });

  test("200 checks a contract by EIP-1271, and proves it only on its chain; a contract that says no is refused", async () => {
    const contractAt = privateKeyToAccount(generatePrivateKey()).address;
    const seller = await newSeller(owner.as, { payTo: contractAt });
    const { data } = await challenge(owner, { sellerId: seller.sellerId, payTo: contractAt });
    const body = { method: "signature", challengeId: data.challengeId, signature: "0x1234" };
    await chain().client.setCode({ address: contractAt, bytecode: "0x60006000fd" });
    expect((await prove(owner, body)).problem.errors?.[0]?.pointer).toBe("/signature");
    await chain().client.setCode({ address: contractAt, bytecode: AGREES });
    expect((await prove(owner, body)).data).toMatchObject({ payTo: contractAt.toLowerCase(), chain: CHAIN, method: "signature" });
    expect(await isListedAsProven(owner, seller.sellerId)).toBe(true);
  });

  test("counts only for the organization: another organization that is paid at the address has no proof, and may sign too", async () => {
    const { wallet, challengeId, text } = await unproven();
    await prove(owner, { method: "signature", challengeId, signature: await wallet.signMessage({ message: text }) });
    const twin = await unproven(other, wallet);
    expect(await isListedAsProven(other, twin.seller.sellerId)).toBe(false);
    const signature = await wallet.signMessage({ message: twin.text });
    expect((await prove(other, { method: "signature", challengeId: twin.challengeId, signature })).status).toBe(200);
    expect(await isListedAsProven(other, twin.seller.sellerId)).toBe(true);
  });

  test("409 for an organization whose seller was stopped at the address", async () => {
    const { seller, wallet, challengeId, text } = await unproven();
    await stopNow(await createOfficial("operator"), { sellerId: seller.sellerId });
    const signature = await wallet.signMessage({ message: text });
    const { status, problem } = await prove(owner, { method: "signature", challengeId, signature });
    expect([status, problem.detail]).toEqual([409, expect.stringContaining("stopped")]);
  });
});

describe("provePayTo by the verified domain", () => {
  async function atPaywall(by = owner, payTo?: Hex) {
    const shop = await openPaywall();
    mayReach(shop.domain);
    const seller = await newSeller(by.as, { domain: shop.domain, payTo: payTo ?? shop.payTo });
    return { shop, seller, body: { method: "domain", sellerId: seller.sellerId, resourceId: "report" } };
  }
  const setVerified = (sellerId: string, verified: boolean) =>
    database().update(sellers).set({ verified }).where(eq(sellers.sellerId, sellerId));

  test("200 if the domain's own 402 names the address, and valid as long as the domain is verified", async () => {
    const { shop, seller, body } = await atPaywall();
    const early = await prove(owner, body);
    expect([early.status, early.problem.nextActions[0]?.type, shop.asked]).toEqual([409, "verify_seller", []]);
    await setVerified(seller.sellerId, true);
    expect((await prove(owner, body)).data).toMatchObject({ payTo: shop.payTo, chain: CHAIN, method: "domain" });
    expect(shop.asked).toEqual(["GET /report"]);
    expect(await isListedAsProven(owner, seller.sellerId)).toBe(true);
    await setVerified(seller.sellerId, false);
    expect(await isListedAsProven(owner, seller.sellerId)).toBe(false);
  });

  test("424 if the 402 names another address, asks for no payment, or redirects", async () => {
    const { shop, seller, body } = await atPaywall(owner, randomAddress());
    await setVerified(seller.sellerId, true);
    expect((await prove(owner, body)).problem.detail).toContain("does not name the registered address");
    shop.answer = (response) => response.writeHead(200).end("free");
    expect((await prove(owner, body)).problem.code).toBe("storefront_invalid");
    const elsewhere = await openPaywall();
    mayReach(shop.domain, elsewhere.domain);
    shop.answer = (response) => response.writeHead(302, { location: `${elsewhere.url}/report` }).end();
    expect((await prove(owner, body)).problem.detail).toContain("another host");
  });

  test("409 for an address that another organization has proved, and a signature ends the proof by a domain", async () => {
    const wallet = newWallet();
    const impostor = await atPaywall(other, wallet.address);
    impostor.shop.offer["payTo"] = wallet.address;
    await setVerified(impostor.seller.sellerId, true);
    expect((await prove(other, impostor.body)).status).toBe(200);
    expect(await isListedAsProven(other, impostor.seller.sellerId)).toBe(true);
    const victim = await unproven(owner, wallet);
    const signature = await wallet.signMessage({ message: victim.text });
    expect((await prove(owner, { method: "signature", challengeId: victim.challengeId, signature })).status).toBe(200);
    expect(await isListedAsProven(other, impostor.seller.sellerId)).toBe(false);
    const { problem } = await prove(other, impostor.body);
    expect([problem.code, problem.detail]).toEqual(["conflict", expect.stringContaining("Another organization has proven")]);
  });
});
