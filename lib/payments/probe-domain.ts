import type { PaymentRequirements } from "@x402/core/types";
import { database } from "#lib/db/client.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import { log } from "#lib/telemetry/log.ts";
import { Counts, hasPlace } from "#lib/http/share.ts";
import { sellerDomainOf } from "#lib/payments/batch/load.ts";
import { keyOf, type ProbeResult, type DueProbe } from "#lib/payments/offers/required-probe.ts";
import { isProblem, Problem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";
import { rememberOffer } from "#lib/sellers/seen-offer-store.ts";
import { challengeOf } from "#lib/x402/challenge-header.ts";
import type { ProbedCheckout } from "#lib/storefront/probe-checkout.ts";
import { exactOffers } from "#lib/x402/compare-challenge.ts";
import { guardedFetch } from "#lib/outbound/guarded-fetch.ts";
import { replyCache } from "#lib/outbound/reply-cache.ts";
import { atMost } from "#lib/time.ts";

/** How long a payment waits for the seller's domain. The HTTP request has separate limits. */
const WAIT_MS = 8_000;
/** Concurrent requests: `most` in total, `each` for one organization, `kept` for organizations that have none open. */
const AT_ONCE = { most: 64, each: 8, kept: 8 };
/** For each organization. A mandate can name any third party's domain, which this service then calls, so there is a limit. */
const PER_MINUTE = 60;
/** How long the result of a failed probe is cached. */
const FAILED_MS = 15_000;
const FAILED_KEPT = 1_000;

type PendingProbe = {
  /** The organization whose rate limit counts this request. */
  readonly organizationId: string;
  /** Resolves once the rate limit has counted the request. */
  readonly counted: Promise<void>;
  readonly result: Promise<ProbeResult>;
};

const probes = () =>
  perProcess("payments/probe-domain", () => ({
    underWay: new Map<string, PendingProbe>(),
    counts: new Counts(),
    failed: replyCache<ProbeResult>({ lifeMs: FAILED_MS, bytes: FAILED_KEPT }),
  }));

/** The caller must have no open transaction, because this waits for the network. @throws Problem overloaded, rate_limited */
export async function probeDomain(probe: DueProbe, organizationId: string): Promise<ProbeResult> {
  const key = keyOf(probe);
  const { failed, underWay } = probes();
  const known = failed.get(key);
  if (known) return known;
  const current = underWay.get(key) ?? begin(key, probe, organizationId);
  try {
    await current.counted;
  } catch (error) {
    // The shared request of another organization was not counted, so begin one for this organization.
    if (current.organizationId !== organizationId) return probeDomain(probe, organizationId);
    throw error;
  }
  const words = `We asked ${probe.domain} ourselves, and it did not answer in time.`;
  return atMost(current.result, WAIT_MS, { key, seen: false, words });
}

/** Until the request ends, later callers with the same key share its count in the rate limit and its result. */
function begin(key: string, probe: DueProbe, organizationId: string): PendingProbe {
  const { underWay, counts } = probes();
  if (!hasPlace(counts.of(organizationId), counts.total, AT_ONCE)) throw tooMany();
  counts.add(organizationId, 1);
  const end = () => {
    underWay.delete(key);
    counts.add(organizationId, -1);
  };
  const counted = countAttempt("domainProbe", organizationId, PER_MINUTE).catch((error: unknown) => {
    end();
    throw error;
  });
  const result = counted.then(() => probeNow(key, probe).finally(end));
  // Callers may have stopped waiting; this handler avoids an unhandled rejection.
  result.catch((error: unknown) => {
    if (!isProblem(error)) log().error({ domain: probe.domain, error }, "A seller's domain could not be probed");
  });
  const begun = { organizationId, counted, result };
  underWay.set(key, begun);
  return begun;
}

async function probeNow(key: string, probe: DueProbe): Promise<ProbeResult> {
  const words = await ask(probe);
  const result = { key, seen: words === null, words: words ?? "" };
  if (!result.seen) probes().failed.set(key, result, 1);
  return result;
}

const tooMany = (): Problem =>
  new Problem("overloaded", {
    detail: "Too many sellers are being asked for their prices. Nothing was stored; ask again in a moment.",
    retryAfterSeconds: 1,
  });

/** If the domain's 402 asks for the same payment, stores the offer and returns null; otherwise returns the reason as text. */
async function ask(probe: DueProbe): Promise<string | null> {
  const { url, domain } = probe;
  try {
    const reply = await guardedFetch(url, { expect: "text" });
    if (new URL(reply.url).host !== new URL(url).host || !isAt(url, domain))
      return `We asked ${domain} ourselves, and it sent us to another host.`;
    if (reply.status !== 402)
      return `We asked ${domain} ourselves, and it answered ${reply.status} instead of asking for payment.`;
    const offers = exactOffers(challengeOf(reply));
    const found = offers.find((offer) => differences(offer, probe).length === 0);
    if (!found) return `We asked ${domain} ourselves, and its 402 ${describeNearest(offers, probe)}.`;
    const { payTo, chain, tokenAddress } = probe;
    await rememberOffer(database(), { domain, payTo, chain, tokenAddress, amount: BigInt(found.amount), url });
    return null;
  } catch (error) {
    if (isProblem(error)) return `We asked ${domain} ourselves, and got no usable answer: ${error.details.detail}`;
    throw error;
  }
}

/** Call it outside of a transaction: it takes a second connection, and the offer stays stored if the caller rolls back. */
export async function rememberProbed({ terms, answeredAt }: Pick<ProbedCheckout, "terms" | "answeredAt">): Promise<void> {
  const { host, hostname } = new URL(answeredAt);
  const domain = sellerDomainOf(host) ?? sellerDomainOf(hostname);
  if (domain === null) return;
  const { payTo, chain, tokenAddress, amount } = terms;
  await rememberOffer(database(), { domain, payTo, chain, tokenAddress, amount, url: answeredAt });
}

/** A reply proves something only about the host that sent it. The port is ignored, unless the host is this machine. */
function isAt(url: string, domain: string): boolean {
  const { host, hostname } = new URL(url);
  return sellerDomainOf(host) === domain || sellerDomainOf(hostname) === domain;
}

const differenceWords = {
  chain: "asks for payment on another network",
  asset: "asks for another token",
  payTo: "names another address to pay to",
  amount: "asks for another amount",
} as const;

function differences(offer: PaymentRequirements, probe: DueProbe): (keyof typeof differenceWords)[] {
  const same = {
    chain: offer.network === probe.chain,
    asset: offer.asset.toLowerCase() === probe.tokenAddress,
    payTo: offer.payTo.toLowerCase() === probe.payTo,
    amount: probe.amount === null || BigInt(offer.amount) === probe.amount,
  };
  return (["chain", "asset", "payTo", "amount"] as const).filter((field) => !same[field]);
}

function describeNearest(offers: readonly PaymentRequirements[], probe: DueProbe): string {
  const [nearest] = offers.map((offer) => differences(offer, probe)).toSorted((a, b) => a.length - b.length);
  return nearest ? nearest.map((field) => differenceWords[field]).join(" and ") : "offers no payment of scheme exact by EIP-3009";
}
