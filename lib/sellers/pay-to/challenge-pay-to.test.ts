import { eq } from "drizzle-orm";
import { getAddress } from "viem";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { forgetOldChallenges } from "#lib/sellers/pay-to-store.ts";
import { payToChallenges } from "#lib/sellers/tables.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import { challenge, newOwner, unprovenPayTo, type Owner } from "#test/pay-to.ts";
import { newWallet } from "#test/payments.ts";
import { newSeller } from "#test/sellers.ts";
import { createAgent } from "#test/tenant.ts";

useDatabase();

let owner: Owner;
let other: Owner;
beforeAll(async () => {
  [owner, other] = [await newOwner(), await newOwner()];
});

describe("challengePayTo", () => {
  test("201 with a text that names organization, seller, address, network, environment and expiry, and says that it moves no money", async () => {
    const { seller, wallet, challengeId, text, chain: on, expiresAt } = await unprovenPayTo(owner);
    for (const part of [
      owner.organizationId,
      seller.sellerId,
      seller.domain,
      wallet.address,
      CHAIN,
      "sandbox",
      challengeId,
      expiresAt,
    ])
      expect(text).toContain(part);
    expect([on, text.endsWith("moves no money and allows no payment.")]).toEqual([CHAIN, true]);
    expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(14 * 60_000);
  });

  test("400 for an invalid address or an unknown chain, 404 for another organization's seller, 403 without the capability", async () => {
    const { sellerId } = await newSeller(owner.as);
    const payTo = newWallet().address;
    const pointer = async (body: Record<string, unknown>) =>
      (await challenge(owner, { sellerId, payTo, ...body })).problem.errors?.[0]?.pointer;
    const wrong = getAddress(payTo).replace(/[a-f]/, (letter) => letter.toUpperCase());
    for (const bad of ["0x12", `0x${"0".repeat(40)}`]) expect(await pointer({ payTo: bad })).toBe("/payTo");
    if (wrong !== payTo) expect(await pointer({ payTo: wrong })).toBe("/payTo");
    expect(await pointer({ chain: "eip155:1" })).toBe("/chain");
    expect((await challenge(other, { sellerId, payTo })).status).toBe(404);
    const reader = await createAgent(owner.organizationId, ["sellers:read"]);
    const { status, problem } = await challenge({ ...owner, as: reader.credential }, { sellerId, payTo });
    expect([status, problem.code]).toEqual([403, "capability_required"]);
  });

  test("429 above fifty texts that were not signed, and old ones are deleted", async () => {
    const busy = await newOwner();
    const { sellerId } = await newSeller(busy.as);
    const body = { sellerId, payTo: newWallet().address };
    for (let count = 0; count < 50; count += 1) expect((await challenge(busy, body)).status).toBe(201);
    expect((await challenge(busy, body)).status).toBe(429);
    const own = eq(payToChallenges.organizationId, busy.organizationId);
    await database()
      .update(payToChallenges)
      .set({ expiresAt: new Date(Date.now() - 25 * 3_600_000) })
      .where(own);
    expect((await challenge(busy, body)).status).toBe(201);
    expect(await forgetOldChallenges()).toBeGreaterThanOrEqual(50);
    expect(await database().select().from(payToChallenges).where(own)).toHaveLength(1);
  });

  test("a repeat with the same idempotency key gets the same text, and another request with it is refused", async () => {
    const { sellerId } = await newSeller(owner.as);
    const body = { sellerId, payTo: newWallet().address };
    const first = await challenge(owner, body, "challenge-once");
    const again = await challenge(owner, body, "challenge-once");
    expect([again.status, again.headers.get("idempotent-replayed"), again.data]).toEqual([201, "true", first.data]);
    const { problem } = await challenge(owner, { ...body, payTo: newWallet().address }, "challenge-once");
    expect(problem.code).toBe("idempotency_key_reused");
  });
});
