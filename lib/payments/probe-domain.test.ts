import { beforeEach, describe, expect, test } from "vitest";
import { tokenOf } from "#lib/chains/chains.ts";
import { lower } from "#lib/evm.ts";
import { takeAttempt } from "#lib/http/attempts-store.ts";
import { probeDomain } from "#lib/payments/probe-domain.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import { mayReach, openPaywall, type Paywall } from "#test/paywall.ts";
import { createOrganization } from "#test/tenant.ts";

useDatabase();

let shop: Paywall;
let own: string;
beforeEach(async () => {
  shop = await openPaywall();
  mayReach(shop.domain);
  own = await createOrganization();
});

const probe = (organizationId: string) => {
  const { domain, url, payTo } = shop;
  const offer = { payTo: lower(payTo), chain: CHAIN, tokenAddress: tokenOf(CHAIN, "USDC")!, amount: 250_000n };
  return probeDomain({ domain, url: `${url}/report`, ...offer }, organizationId);
};

/** Returns how many requests to domains were counted for the organization so far. Asking for it counts one more. */
const counted = async (organizationId: string) => (await takeAttempt(`domainProbe:${organizationId}`, 60)) - 1;

describe("the limit of requests to domains per minute", () => {
  test("counts only once a request that twenty callers share", async () => {
    const results = await Promise.all(Array.from({ length: 20 }, () => probe(own)));
    expect(new Set(results.map(({ seen }) => seen))).toEqual(new Set([true]));
    expect(shop.asked).toEqual(["GET /report"]);
    expect(await counted(own)).toBe(1);
  });

  test("of one organization does not refuse another organization that asks for the same offer at the same moment", async () => {
    const spent = await createOrganization("Above its limit");
    for (let at = 0; at < 60; at += 1) await counted(spent);
    const refused = { status: "rejected", reason: { code: "rate_limited" } };
    const seen = { status: "fulfilled", value: { seen: true } };
    const asked = [spent, own, spent, own].map(probe);
    expect(await Promise.allSettled(asked)).toMatchObject([refused, seen, refused, seen]);
    expect(shop.asked).toEqual(["GET /report"]);
    expect(await counted(own)).toBe(1);
  });

  test("refuses without sending a request, and leaves no request under way", async () => {
    for (let at = 0; at < 60; at += 1) await counted(own);
    await expect(probe(own)).rejects.toMatchObject({ code: "rate_limited" });
    expect(shop.asked).toEqual([]);
    expect(await probe(await createOrganization("Other"))).toMatchObject({ seen: true });
  });
});
