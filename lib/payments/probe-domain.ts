import type { PaymentRequirements } from "@x402/core/types";
import { database } from "#lib/db/client.ts";
import { countAttempt } from "#lib/http/attempts.ts";
import { log } from "#lib/telemetry/log.ts";
import { Counts, hasPlace } from "#lib/http/share.ts";
import { sellerDomainOf } from "#lib/payments/batch-load.ts";
import { keyOf, type ProbeResult, type DueProbe } from "#lib/payments/required-probe.ts";
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
/**
 * Limits of concurrent requests: `most` for the process, `each` for one organization. `kept` requests are reserved for
 * organizations that have none open.
 */
const AT_ONCE = { most: 64, each: 8, kept: 8 };
/**
 * How many requests to domains an organization may cause per minute. They are limited, because a mandate can name any third
 * party's domain, and this service then calls that domain.
 */
const PER_MINUTE = 60;
/** How long a failed request to a domain is cached before the domain is asked again. */
const FAILED_MS = 15_000;
const FAILED_KEPT = 1_000;

type PendingProbe = {
  /** The organization whose rate limit counts this request. */
  readonly organizationId: string;
  /** Rejects if the rate limit refuses the request. */
  readonly counted: Promise<void>;
  readonly result: Promise<ProbeResult>;
};

const probes = () =>
  perProcess("probes", () => ({
    underWay: new Map<string, PendingProbe>(),
    counts: new Counts(),
    failed: replyCache<ProbeResult>({ lifeMs: FAILED_MS, bytes: FAILED_KEPT }),
  }));

/**
 * Requests the 402 of a seller's domain and says whether the 402 asks for this payment. A match is stored, and decisions use it
 * for one day; a failure is cached for 15 seconds. Concurrent calls for the same offer share one request. The caller must have
 * no open transaction, because this call waits for the network.
 * @throws Problem overloaded, rate_limited
 */
export async function probeDomain(probe: DueProbe, organizationId: string): Promise<ProbeResult> {
  const key = keyOf(probe);
  const { failed, underWay } = probes();
  const known = failed.get(key);
  if (known) return known;
  const current = underWay.get(key) ?? begin(key, probe, organizationId);
  try {
    await current.counted;
  } catch (error) {
    // Another organization began the shared request, and its rate limit refused the request. Begin a request for this
    // organization.
    if (current.organizationId !== organizationId) return probeDomain(probe, organizationId);
    throw error;
  }
  const words = `We asked ${probe.domain} ourselves, and it did not answer in time.`;
  return atMost(current.result, WAIT_MS, { key, seen: false, words });
}

/**
 * Counts the request against the organization's rate limit, then sends the request. Until the request ends, later callers with
 * the same key share the count and the request.
 */
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

/**
 * Requests the domain's own 402. If the 402 asks for the same payment, stores the offer and returns null. Otherwise returns a
 * sentence that says what the domain answered or why it could not be asked.
 */
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

/**
 * Stores the offer of a seller's 402 that the service received during a checkout, so that the domain is not called for this
 * offer again within a day. The caller must have no open transaction, because this opens one on another connection.
 */
export async function rememberProbed({ terms, answeredAt }: Pick<ProbedCheckout, "terms" | "answeredAt">): Promise<void> {
  const { host, hostname } = new URL(answeredAt);
  const domain = sellerDomainOf(host) ?? sellerDomainOf(hostname);
  if (domain === null) return;
  const { payTo, chain, tokenAddress, amount } = terms;
  await rememberOffer(database(), { domain, payTo, chain, tokenAddress, amount, url: answeredAt });
}

/**
 * Whether the URL is at the domain: a reply proves something only about the host that sent it. The port is ignored, unless the
 * host is this machine.
 */
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

/** Says in words how the domain's offer differs. Of several offers, the one with the fewest differences is described. */
function describeNearest(offers: readonly PaymentRequirements[], probe: DueProbe): string {
  const [nearest] = offers.map((offer) => differences(offer, probe)).toSorted((a, b) => a.length - b.length);
  return nearest ? nearest.map((field) => differenceWords[field]).join(" and ") : "offers no payment of scheme exact by EIP-3009";
}
