import type { PaymentRequired } from "@x402/core/types";
import type { Address } from "viem";
import { database } from "#lib/db/client.ts";
import { lower } from "#lib/evm.ts";
import type { Handler } from "#lib/http/operation.ts";
import { formatAmount, parseAmount, type Atomic } from "#lib/money.ts";
import { leastIfSmaller, tooSmallToSell } from "#lib/onchain/broadcast-caps.ts";
import { assetOf, type AssetOnChain } from "#lib/chains/chains.ts";
import { invalidField, notFound, Problem } from "#lib/problem.ts";
import type * as contract from "#lib/sellers/contract.ts";
import { isLocalDomain } from "#lib/sellers/domain-proof.ts";
import { onlyOne } from "#lib/sellers/resources/only-resource.ts";
import { fitsTemplate } from "#lib/sellers/resource-of-payment.ts";
import type { ResourceProbe } from "#lib/sellers/resource-schema.ts";
import { findOwnSeller } from "#lib/sellers/store.ts";
import { findOwnResources, type ResourceRow } from "#lib/sellers/resource-store.ts";
import { countCallOf, requireProvedFor } from "#lib/sellers/unproven-domain-calls.ts";
import { challengeOf } from "#lib/x402/challenge-header.ts";
import { compareChallenge, exactOffers, type Mismatch } from "#lib/x402/compare-challenge.ts";
import { guardedFetch, type GuardedReply } from "#lib/outbound/guarded-fetch.ts";

type Finding = ResourceProbe["findings"][number];

const words: Readonly<Record<Mismatch["field"], string>> = {
  scheme: "The 402 offers no payment of scheme exact.",
  amount: "The 402 asks for another amount.",
  payTo: "The 402 names another address to pay to.",
  asset: "The 402 asks for another token.",
  chain: "The 402 names another network.",
  resource: "The 402 names another address of the resource.",
  tokenName: "The token's name in extra is not the one that its signatures need.",
  tokenVersion: "The token's version in extra is not the one that its signatures need.",
};

export const probeResource: Handler<typeof contract.probeResource> = async ({ id, body }, { caller }) => {
  const { organizationId, environment } = caller;
  const { path, sellerId } = body;
  const resource = onlyOne(await findOwnResources(database(), { organizationId, sellerId, archivedToo: true }, id), "/sellerId");
  const seller = await findOwnSeller(database(), environment, organizationId, resource.sellerId);
  if (!seller) throw notFound("resource");
  const asked = terms(resource);
  const url = resourceAddress(seller.domain, resource, path);
  const method = methodOf(resource);
  requireProvedFor(method, seller);
  await countCallOf(seller);
  const reply = await guardedFetch(url, { method, ...(method === "POST" && { json: {} }), expect: "text" });
  return { url, status: reply.status, ...judge(reply, resource, { ...asked, url }) };
};

export function methodOf({ method }: ResourceRow): "GET" | "POST" {
  if (method === "GET" || method === "POST") return method;
  throw new Problem("conflict", { detail: `Only GET and POST resources can be asked from here; this one is ${method}.` });
}

export function resourceAddress(domain: string, { pathTemplate }: ResourceRow, path: string | undefined): string {
  const base = `${isLocalDomain(domain) ? "http" : "https"}://${domain}`;
  const filled = path ?? pathTemplate;
  if (filled.includes("{")) throw invalidField("/path", "Write the path with its parameters filled in.");
  const url = URL.parse(filled, base);
  if (url?.host !== domain || !fitsTemplate(url.pathname, pathTemplate))
    throw invalidField("/path", `Write a path such as ${pathTemplate}.`);
  url.hash = "";
  return url.href;
}

type Terms = { readonly asset: AssetOnChain; readonly payTo: Address; readonly price: Atomic | null };

/** Without a price, the 402 itself names the amount. */
function terms({ paymentConfig, pricing }: ResourceRow): Terms {
  if (!paymentConfig)
    throw new Problem("conflict", { detail: "This resource does not say yet whom to pay: set the address that it is paid to." });
  const asset = assetOf(paymentConfig.chain, pricing.asset);
  if (!asset)
    throw new Problem("conflict", { detail: `This installation no longer names ${pricing.asset} on ${paymentConfig.chain}.` });
  const price = pricing.type === "fixed" ? parseAmount(pricing.amount, asset.tokenDecimals) : null;
  return { asset, payTo: lower(paymentConfig.payTo), price };
}

type Verdict = Pick<ResourceProbe, "payable" | "findings" | "challenge">;

function judge(reply: GuardedReply, { pricing, paymentConfig }: ResourceRow, asked: Terms & { readonly url: string }): Verdict {
  if (reply.status !== 402) {
    const message =
      reply.status < 300 ? "It answered without asking for a payment." : "It answered neither with a 402 nor with success.";
    return {
      payable: false,
      findings: [{ field: "status", pointer: "", expected: "402", actual: String(reply.status), message }],
    };
  }
  const challenge = challengeOf(reply);
  const amount = asked.price ?? quotedIn(challenge);
  const findings: Finding[] = compareChallenge(challenge, { ...asked, amount }).mismatches.map((mismatch) => ({
    ...mismatch,
    message: words[mismatch.field],
  }));
  if (pricing.type === "quoted" && pricing.maxAmount !== undefined)
    findings.push(...above(pricing.maxAmount, amount, asked.asset));
  const weSettle = paymentConfig?.settlementMode === "facilitatorSettled" && paymentConfig.facilitatorUrl === undefined;
  if (weSettle) findings.push(...below(amount, asked.asset));
  return { payable: findings.length === 0, findings, challenge: { ...challenge } };
}

const quotedIn = (challenge: PaymentRequired): Atomic => BigInt(exactOffers(challenge)[0]?.amount ?? "0") as Atomic;

function below(amount: Atomic, asset: AssetOnChain): Finding[] {
  const [expected, message] = [leastIfSmaller(amount, asset), tooSmallToSell(amount, asset)];
  if (expected === null || message === null) return [];
  const actual = `${formatAmount(amount, asset.tokenDecimals)} ${asset.asset}`;
  return [{ field: "amount", pointer: "/accepts/0/amount", expected, actual, message }];
}

function above(maxAmount: string, amount: Atomic, { tokenDecimals }: AssetOnChain): Finding[] {
  if (amount <= parseAmount(maxAmount, tokenDecimals)) return [];
  const message = "The 402 asks for more than the registered maximum.";
  return [
    { field: "amount", pointer: "/accepts/0/amount", expected: maxAmount, actual: formatAmount(amount, tokenDecimals), message },
  ];
}
