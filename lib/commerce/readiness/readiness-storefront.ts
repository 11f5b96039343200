import { failing, ready, skipped, unknown, type Check } from "#lib/commerce/readiness/readiness.ts";
import type { CheckReadiness } from "#lib/commerce/readiness/readiness-schema.ts";
import { displayAmount, readAmount } from "#lib/money.ts";
import { commonActions } from "#lib/next-actions.ts";
import { rememberProbed } from "#lib/payments/probe-domain.ts";
import { isProblem, Problem } from "#lib/problem.ts";
import { probeCheckout, type ProbedCheckout } from "#lib/storefront/probe-checkout.ts";
import { discoverStorefront, type Storefront } from "#lib/storefront/discover-storefront.ts";
import { requestQuote } from "#lib/storefront/request-quote.ts";
import type { Quote } from "#lib/storefront/read-quote.ts";

const { otherSeller, refreshQuote } = commonActions;

export type StorefrontFindings = {
  readonly discovered: Storefront | null;
  readonly quote: Quote | null;
  readonly probed: ProbedCheckout | null;
  readonly found: readonly Check[];
};

/** A Problem becomes the result of the step; any other error is a bug and is thrown. */
async function attempt<T>(work: Promise<T>): Promise<{ readonly value: T } | { readonly problem: Problem }> {
  try {
    return { value: await work };
  } catch (error) {
    if (isProblem(error)) return { problem: error };
    throw error;
  }
}

const unread = "The storefront must answer before anything can be said about it.";

const afterFailure = (...found: Check[]): StorefrontFindings => ({ discovered: null, quote: null, probed: null, found });

/** Whether the storefront's manifest is refused because of the token that it names. */
const aboutToken = ({ details }: Problem): boolean =>
  JSON.stringify(details.nextActions?.[0]?.metadata ?? null).includes('"/paymentScope/token');

function notDiscovered(problem: Problem): StorefrontFindings {
  const rest = [unknown("storefrontItems", unread), unknown("paymentChallengeMatchesQuote", unread)];
  if (problem.code === "storefront_unavailable") {
    const later = [unknown("storefrontManifest", unread), unknown("tokenMetadata", unread)];
    return afterFailure(failing("storefrontReachable", problem), ...later, ...rest);
  }
  const reached = ready("storefrontReachable", "The storefront answers.");
  if (aboutToken(problem) || problem.code !== "storefront_invalid")
    return afterFailure(
      reached,
      ready("storefrontManifest", "The storefront describes itself."),
      failing("tokenMetadata", problem),
      ...rest,
    );
  return afterFailure(reached, failing("storefrontManifest", problem), unknown("tokenMetadata", unread), ...rest);
}

function challengeSupported({ challengeTypes, domain }: Storefront, asked: string | undefined): Check {
  const type = asked ?? "x402";
  if (type === "x402" && challengeTypes.includes(type)) return ready("paymentChallengeSupported", "Both sides speak x402.");
  const detail = challengeTypes.includes(type)
    ? `This service does not pay by ${type}.`
    : `${domain} does not ask for payment by ${type}.`;
  return failing("paymentChallengeSupported", new Problem("scheme_unsupported", { detail, nextActions: [otherSeller] }));
}

function differences({ asset, payTo }: Storefront, quote: Quote | null, body: CheckReadiness): string[] {
  const stated = body.amount === undefined ? null : readAmount(body.amount, asset.tokenDecimals);
  const checks: readonly (readonly [same: boolean, text: string])[] = [
    [body.chain === undefined || body.chain === asset.chain, `The storefront is paid on ${asset.chain}, not on ${body.chain}.`],
    [body.asset === undefined || body.asset === asset.asset, `The storefront is paid in ${asset.asset}, not in ${body.asset}.`],
    [body.payTo === undefined || body.payTo.toLowerCase() === payTo, `The storefront is paid to ${payTo}, not to ${body.payTo}.`],
    [
      stated === null || quote === null || (stated.ok && stated.amount === quote.amount),
      `The storefront asks for ${quote ? displayAmount(quote.amount, asset.tokenDecimals, asset.asset) : ""}, not for ${body.amount}.`,
    ],
  ];
  return checks.filter(([same]) => !same).map(([, text]) => text);
}

function matchesQuote(seen: Storefront, quote: Quote | null, probed: ProbedCheckout | null, body: CheckReadiness): Check {
  const key = "paymentChallengeMatchesQuote";
  const wrong = [
    ...differences(seen, quote, body),
    ...(probed?.mismatches ?? []).map(
      ({ field, expected, actual }) => `Its 402 says ${actual} as ${field}, and ${expected} was quoted.`,
    ),
  ];
  if (wrong.length > 0) {
    const metadata = { mismatches: probed?.mismatches ?? [] };
    const detail = `${seen.domain} asks for other terms than were agreed. ${wrong.join(" ")}`;
    const nextActions = [refreshQuote, { type: "fix_storefront", label: "Correct the storefront", metadata }] as const;
    return failing(key, new Problem("storefront_invalid", { detail, nextActions }));
  }
  return probed ? ready(key, "The 402 at the checkout asks for what was quoted.") : skipped(key, "Nothing was quoted.");
}

/** Nothing is paid or ordered. */
export async function seeStorefront(body: CheckReadiness, requestId: string): Promise<StorefrontFindings> {
  const read = await attempt(discoverStorefront(body.storefrontUrl));
  if ("problem" in read) return notDiscovered(read.problem);
  const discovered = read.value;
  const found = [
    ready("storefrontReachable", "The storefront answers."),
    ready(
      "storefrontManifest",
      discovered.source === "manifest" ? "The storefront's manifest can be used." : "The storefront is a plain x402 API.",
    ),
    ready("tokenMetadata", `The storefront is paid in ${discovered.asset.asset}, as this installation has configured it.`),
    challengeSupported(discovered, body.paymentChallenge),
  ];
  const items = body.items ?? (discovered.source === "x402" ? [{}] : null);
  if (!items) {
    found.push(skipped("storefrontItems", "No items were named."), matchesQuote(discovered, null, null, body));
    return { discovered, quote: null, probed: null, found };
  }
  const quoted = await attempt(requestQuote(discovered, items));
  if ("problem" in quoted) {
    found.push(failing("storefrontItems", quoted.problem), matchesQuote(discovered, null, null, body));
    return { discovered, quote: null, probed: null, found };
  }
  const quote = quoted.value;
  const price = displayAmount(quote.amount, quote.asset.tokenDecimals, quote.asset.asset);
  found.push(ready("storefrontItems", `The storefront quotes ${price}.`));
  const asked = await attempt(probeCheckout(discovered, quote, `readiness-${requestId}`));
  if ("problem" in asked) {
    found.push(failing("paymentChallengeMatchesQuote", asked.problem));
    return { discovered, quote, probed: null, found };
  }
  await rememberProbed(asked.value);
  found.push(matchesQuote(discovered, quote, asked.value, body));
  return { discovered, quote, probed: asked.value, found };
}
