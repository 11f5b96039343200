import type { AskRule } from "#lib/mandates/policy/ask-rules.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";
import { daysWords, feeWords, listWords, momentWords, secondsWords, spanWords } from "#lib/mandates/policy/words.ts";
import { displayAmount, isUnitChain, readAmount } from "#lib/money.ts";
import type { AssuranceLevel, Rail } from "#lib/vocabulary.ts";

/** A `value` is a part that pages show in bold. */
export type Phrase = string | { readonly value: string };
export type Sentence = readonly Phrase[];

export type Summary = {
  readonly may: Sentence;
  readonly ask: Sentence;
  readonly terms: readonly Sentence[];
};

/** `nameOf` returns the id itself if it has no name; `agents` is null if every service account may spend. */
export type Words = {
  readonly agents: readonly string[] | null;
  readonly wallet?: string | undefined;
  readonly nameOf: (id: string) => string;
  readonly networkOf: (chain: string) => string;
};

const DIGITS = 18;
const value = (text: string): Phrase => ({ value: text });

/** An ellipsis stands for an incomplete amount. */
function amountWords(text: string | undefined, asset: string): string {
  const read = readAmount(text ?? "", DIGITS);
  return read.ok ? displayAmount(read.amount, DIGITS, asset) : `… ${asset}`;
}

function valuesOf(texts: readonly string[], word = "and"): Phrase[] {
  return texts.flatMap((text, at): Phrase[] => {
    if (at === 0) return [value(text)];
    return [at === texts.length - 1 ? ` ${word} ` : ", ", value(text)];
  });
}

/** Accepts a policy that is not complete yet. */
export function summarize(policy: Policy, words: Words): Summary {
  const asset = policy.unit ?? policy.assets[0]?.asset ?? "";
  return {
    may: maySpend(policy, asset, words),
    ask: askSentence(policy, asset),
    terms: [
      ...whereTerms(policy, words),
      ...railTerms(policy, words),
      ...paymentTerms(policy, asset, words),
      ...timeTerms(policy),
    ],
  };
}

function maySpend({ limits }: Policy, asset: string, { agents, nameOf }: Words): Phrase[] {
  if (agents?.length === 0) return ["No agent may spend: choose one, or let every agent."];
  const who = agents === null ? ["Agents"] : valuesOf(agents.map(nameOf));
  const caps = (limits.budgets ?? []).map((budget) => [value(amountWords(budget.amount, asset)), ` ${spanWords(budget)}`]);
  if (limits.total !== undefined) caps.push([value(amountWords(limits.total, asset)), " in all"]);
  const spend = caps.length === 0 ? [value(`… ${asset}`)] : listWords(caps);
  return [...who, " may spend up to ", ...spend, ", at most ", value(amountWords(limits.perPayment, asset)), " in one payment."];
}

function askSentence(policy: Policy, asset: string): Phrase[] {
  const seconds = policy.approval?.expiresInSeconds;
  const waits = seconds === undefined ? [] : [" A request waits ", value(secondsWords(seconds)), "."];
  return [...whenAsked(policy, asset), ...waits];
}

function whenAsked(policy: Policy, asset: string): Phrase[] {
  const { approval } = policy;
  switch (approval?.mode) {
    case undefined:
    case "never": {
      const some = askedAlways(policy);
      return [
        value("Nobody is asked"),
        ` about payments inside these limits${some && `, except about some that are made ${some}`}.`,
      ];
    }
    case "always":
      return [value("Ask me about every payment.")];
    case "firstPayment":
      return [value("Ask me about the first payment to a seller.")];
    case "above":
      return [value(`Ask me above ${amountWords(approval.amount, asset)}.`)];
  }
}

/** Begins in lower case, as in "asks above 25.00 USDC". */
export function askRuleText(rule: AskRule): string {
  switch (rule.rule) {
    case "always":
      return "asks about every payment";
    case "firstPayment":
      return "asks about the first payment to a seller";
    case "records":
      return "asks about this payment that is made elsewhere";
    case "cards":
      return "lets a person clear this purchase by card";
    case "above":
      return `asks above ${amountWords(rule.limit, rule.unit)}`;
    case "passkey":
      return `asks for a passkey${rule.who === "policy" ? "" : `, as the ${rule.who} demands`}`;
  }
}

/** The payments about some of which a person is asked, whatever the approval says; empty if there are none. */
function askedAlways({ rails = [], records, cards }: Policy): string {
  const elsewhere = rails.includes("record") && records?.payees !== "any" ? ["elsewhere"] : [];
  const byCard = rails.includes("card") && (cards === undefined || namedMerchants(cards).length > 0) ? ["by card"] : [];
  return [...elsewhere, ...byCard].join(" or ");
}

/** The lists in which a merchant must be. */
const namedMerchants = (cards: NonNullable<Policy["cards"]>) =>
  (["categories", "countries", "merchants"] as const).flatMap((list) => {
    const entries = cards[list];
    return entries === undefined ? [] : [{ list, entries }];
  });

export function asksWhen(policy: Policy, asset: string): string {
  const { approval } = policy;
  if (approval === undefined || approval.mode === "never") {
    const some = askedAlways(policy);
    return some ? `asks about some payments that are made ${some}` : "does not ask";
  }
  return askRuleText(
    approval.mode === "above" ? { rule: "above", limit: approval.amount ?? "", unit: asset } : { rule: approval.mode },
  );
}

function whereTerms({ domains, sellers, payTo, resources, requireVerifiedSeller }: Policy, { nameOf }: Words): Phrase[][] {
  const terms: Phrase[][] = [];
  const only = (allow: readonly string[] | undefined, before: string, nothing: string) => {
    if (allow === undefined) return;
    terms.push(allow.length === 0 ? [nothing] : [before, ...valuesOf(allow.map(nameOf)), "."]);
  };
  const never = (deny: readonly string[] | undefined, before: string) => {
    if (deny !== undefined && deny.length > 0) terms.push([before, ...valuesOf(deny.map(nameOf), "or"), "."]);
  };
  only(domains?.allow, "Only at ", "At no domain.");
  if (domains?.allow !== undefined && domains.allow.length > 0) terms.push(isThere(sellers?.allow ?? payTo?.allow));
  never(domains?.deny, "Never at ");
  only(sellers?.allow, "Only to the sellers ", "To no registered seller.");
  never(sellers?.deny, "Never to the sellers ");
  only(payTo?.allow, "Only to the addresses ", "To no address.");
  never(payTo?.deny, "Never to the addresses ");
  if (resources !== undefined) {
    const named = resources.map((one) => ("resourceId" in one ? one.resourceId : `${one.method} ${one.pathTemplate}`));
    terms.push(named.length === 0 ? ["For nothing that is registered."] : ["Only for ", ...valuesOf(named), "."]);
  }
  if (requireVerifiedSeller === true) terms.push(["Only to sellers whose domain is ", value("verified"), "."]);
  if (sellers?.unregistered === "allow") terms.push(["Also to sellers that are ", value("not registered"), " here."]);
  else if (sellers?.allow === undefined) terms.push(["Only to sellers that are ", value("registered"), " here."]);
  return terms;
}

/** A seller can claim any domain, so people are told what proves it. */
const isThere = (listed: readonly string[] | undefined): Phrase[] => [
  "A seller must have ",
  value("verified that domain"),
  ", or the domain itself must name the same payee when we ask it.",
  ...(listed === undefined ? [] : [" Sellers and addresses that you list here count as well."]),
];

const confirms: Readonly<Record<AssuranceLevel, string>> = {
  softwareApproved: "a signed-in session",
  passkeyApproved: "a passkey",
  walletApproved: "a wallet signature",
  hardwareApproved: "an attested hardware key",
};

/** As "1 USDC counts as 1 USD, 1 EURC as 1.12 USD, on Base." The unit itself counts as 1 always. */
function coinTerm({ unit, assets }: Policy, { networkOf }: Words): Phrase[] {
  const [first] = assets;
  if (first === undefined) return [];
  const on = (chain: string, before: string) => (isUnitChain(chain) ? "" : `${before}on ${networkOf(chain)}`);
  if (unit === undefined) return ["In ", value(first.asset), `${on(first.chain, " ")}.`];
  const counted = assets.filter(({ asset }) => asset !== unit);
  if (counted.length === 0) return ["In ", value(unit), "."];
  const chains = new Set(counted.map(({ chain }) => chain));
  const rates = counted.flatMap(({ asset, chain, counts }, at): Phrase[] => [
    ...(at === 0 ? [] : [", "]),
    value(`1 ${asset}`),
    `${chains.size > 1 ? on(chain, " ") : ""}${at === 0 ? " counts as " : " as "}`,
    value(`${counts || "…"} ${unit}`),
  ]);
  return [...rates, `${chains.size > 1 ? "" : on(counted[0]?.chain ?? "", ", ")}.`];
}

const railWords: Readonly<Record<Rail, string>> = {
  x402: "payments by x402",
  record: "payments that are made elsewhere and recorded here",
  card: "payments by card",
};

function railTerms(policy: Policy, words: Words): Phrase[][] {
  const { rails } = policy;
  if (rails === undefined) return [];
  return [
    ["Only ", ...valuesOf(rails.map((rail) => railWords[rail])), "."],
    ...(rails.includes("record") ? recordTerms(policy, words) : []),
    ...(rails.includes("card") ? cardTerms(policy) : []),
  ];
}

function recordTerms({ records }: Policy, { nameOf }: Words): Phrase[][] {
  const terms: Phrase[][] = [];
  const { payees, deadline = "P14D" } = records ?? { payees: [] };
  const named = payees === "any" ? [] : payees.map((one) => ("sellerId" in one ? nameOf(one.sellerId) : one.value) || "…");
  if (payees === "any") terms.push(["Recorded payments go to ", value("any payee"), "."]);
  else if (named.length > 0) terms.push(["Recorded payments go to ", ...valuesOf(named, "or"), ". Ask me about others."]);
  else terms.push([value("Ask me about every recorded payment.")]);
  return [...terms, ["They are recorded ", value(spanWords({ rolling: deadline })), " at the latest."]];
}

const merchantWords = {
  categories: ["of the categories ", "of no category"],
  countries: ["in ", "in no country"],
  merchants: ["with the network id ", "with no network id"],
} as const;

/** A card cannot wait for a person, who clears the purchase so that it passes the next time. */
function cardTerms({ cards, approval }: Policy): Phrase[][] {
  const waits = ["A card cannot wait: what a person must clear is declined, and passes once after that."];
  if (cards === undefined) return [[value("A person clears each purchase by card.")], waits];
  const named = namedMerchants(cards).map(({ list, entries }): Phrase[] => {
    const [some, none] = merchantWords[list];
    const texts = entries.map((entry) => entry.replaceAll("_", " ") || "…");
    return texts.length === 0 ? [none] : [some, ...valuesOf(texts, "or")];
  });
  const asks = approval !== undefined && approval.mode !== "never";
  if (named.length === 0) return [["Cards pay at ", value("any merchant"), "."], ...(asks ? [waits] : [])];
  return [["Cards pay at merchants ", ...listWords(named), ". A person clears other purchases."], waits];
}

function paymentTerms(policy: Policy, asset: string, words: Words): Phrase[][] {
  const { limits, minimumAssuranceLevel, maximumFee } = policy;
  const terms: Phrase[][] = [];
  if (policy.assets.length > 0) terms.push(coinTerm(policy, words));
  if (words.wallet !== undefined) terms.push(["Only from the wallet ", value(words.wallet), "."]);
  for (const count of limits.counts ?? []) {
    terms.push([
      "At most ",
      value(`${count.max.toLocaleString("en-US")} ${count.max === 1 ? "payment" : "payments"}`),
      ` ${spanWords(count)}.`,
    ]);
  }
  if (limits.cooldownSeconds !== undefined) {
    terms.push(["At least ", value(`${limits.cooldownSeconds} seconds`), " between two payments."]);
  }
  if (maximumFee !== undefined) {
    const most = "bps" in maximumFee ? feeWords(maximumFee.bps) : amountWords(maximumFee.amount, asset);
    terms.push(["The service fee you bear is at most ", value(most), "."]);
  }
  if (minimumAssuranceLevel !== undefined && minimumAssuranceLevel !== "softwareApproved") {
    terms.push(["Every payment needs ", value(confirms[minimumAssuranceLevel]), "."]);
  }
  return terms;
}

function timeTerms({ limits, schedule, validFrom, validUntil }: Policy): Phrase[][] {
  const terms: Phrase[][] = [];
  if (schedule !== undefined) {
    const { days, from, to, timezone } = schedule;
    terms.push(["Only ", value(`${daysWords(days)} from ${from || "…"} to ${to || "…"}`), `, ${timezone} time.`]);
  }
  const spans = [...(limits.budgets ?? []), ...(limits.counts ?? [])];
  const zones = [...new Set(spans.flatMap((span) => ("timezone" in span ? [span.timezone] : [])))];
  if (zones.length === 1) terms.push([`Days begin at midnight, ${zones[0]} time.`]);
  if (zones.length > 1) terms.push([`Days begin at midnight in their own zone: ${zones.join(", ")}.`]);
  // Where the mandate names one zone, all its times are in that zone.
  const named = [...new Set([...(schedule ? [schedule.timezone] : []), ...zones])];
  const zone = named.length === 1 ? named[0] : "UTC";
  if (validFrom !== undefined) terms.push(["Begins on ", value(momentWords(validFrom, zone)), "."]);
  if (validUntil !== undefined) terms.push(["Ends on ", value(momentWords(validUntil, zone)), "."]);
  return terms;
}

export const plainText = (sentence: Sentence): string =>
  sentence.map((phrase) => (typeof phrase === "string" ? phrase : phrase.value)).join("");
