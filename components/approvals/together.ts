import { defaultMandate } from "#components/checkout/default-mandate.ts";
import { visible } from "#lib/visible-text.ts";
import type { CheckoutView, MandateView, StepUpReason } from "#lib/approvals/checkout-view.ts";
import { displayText, formatAmount, min, parseAmount } from "#lib/money.ts";

export const TOGETHER_MAX = 10;

/** The decimals of calculated sums; parseAmount throws for an amount with more. */
const DECIMALS = 18;

export type Approvable = { readonly view: CheckoutView; readonly mandate: MandateView };
export type Alone = { readonly view: CheckoutView; readonly why: string };

export type Plan = {
  readonly together: readonly Approvable[];
  readonly alone: readonly Alone[];
  /** Why the requests in `together` cannot be approved together; null if they can, or if there are none. */
  readonly refusal: string | null;
  /** The amounts and the buyer's shares of the fees in `together`, added up; decimal text. */
  readonly total: string;
  readonly asset: string;
};

const isOpen = ({ intent: { status } }: CheckoutView): boolean => status === "previewed" || status === "awaiting_approval";

/** Texts of the seller and the agent, which may contain characters that hide or reverse the text around them. */
const untrustedTexts = ({ agent, intent, payee, purpose, lines }: CheckoutView): readonly string[] =>
  [
    agent.name,
    intent.storefrontUrl,
    payee.name,
    purpose,
    ...lines.flatMap(({ productId, title, name, color, size }) => [productId, title, name, color, size]),
  ].filter((text) => text !== undefined);

function hostileFact(view: CheckoutView): string | null {
  const { payee, agent } = view;
  if (payee.looksLike !== undefined) return `Its payee looks like ${payee.looksLike}.`;
  if (payee.unicodeDomain !== undefined) return "The domain of its payee has letters that can look like other letters.";
  if (untrustedTexts(view).some((text) => visible(text) !== text)) return "Its texts contain hidden characters.";
  if (agent.paused || !agent.active)
    return agent.isServiceAccount ? "Its agent is paused or revoked." : "The person who asked has left the organization.";
  return null;
}

function proofAsked({ stepUp }: CheckoutView, mandate: MandateView): string | null {
  if ([stepUp.assuranceAsked, mandate.assuranceAsked].includes("passkeyApproved")) return "It asks for your passkey.";
  const above = stepUp.limit?.above ?? "your limit";
  const words: Readonly<Record<StepUpReason, string>> = {
    amount: `It asks you to confirm who you are: with what you approved in 24 hours it is above ${above}.`,
    unverifiedPayee: `It asks you to confirm who you are: its payee is not verified, and with what you approved in 24 hours it is above ${above}.`,
    sessionAge: "It asks you to confirm who you are: you signed in more than 15 minutes ago.",
    firstPayment: "It asks you to confirm who you are: it is the first payment to this seller.",
  };
  const [first] = stepUp.reasons;
  return first === undefined ? null : words[first];
}

/** Null if the request may be approved with others. */
function whyAlone(view: CheckoutView, mandate: MandateView | undefined): string | null {
  if (!isOpen(view)) return "It is not open any more.";
  if (!view.mayDecide) return "You may not decide this request.";
  if (view.before !== undefined) return "Its terms changed since you saw them.";
  if (mandate === undefined) return "You choose the mandate that pays it.";
  if (!mandate.match) return "The mandate does not cover it.";
  return hostileFact(view) ?? proofAsked(view, mandate);
}

const keyOf = ({ payee, destination, intent }: CheckoutView): string =>
  [payee.domain, destination.payTo.toLowerCase(), destination.chain, intent.asset].join(" ");

const sumOf = (amounts: readonly string[]): bigint => amounts.reduce((sum, amount) => sum + parseAmount(amount, DECIMALS), 0n);

const smallestOf = (amounts: readonly string[]): string =>
  formatAmount(amounts.map((amount) => parseAmount(amount, DECIMALS)).reduce(min), DECIMALS);

function whyNotTogether(views: readonly CheckoutView[]): string | null {
  if (views.length > TOGETHER_MAX) return `At most ${TOGETHER_MAX} requests are approved together. Choose fewer.`;
  if (new Set(views.map(keyOf)).size > 1) return "Requests are approved together only if they pay the same payee. These do not.";
  const [first] = views;
  if (first === undefined) return null;
  // One payee may have two seller records, of which only one is verified, so the room can differ. The smallest room counts.
  const room = smallestOf(views.map(({ stepUp }) => stepUp.room));
  const sum = sumOf(views.map(({ intent }) => intent.amount));
  if (sum <= parseAmount(room, DECIMALS)) return null;
  const { asset } = first.intent;
  return `Together they pay ${displayText(formatAmount(sum, DECIMALS), asset)}. In 24 hours you may approve ${displayText(room, asset)} more without confirming who you are. Choose fewer, or decide each on its own page.`;
}

/** A single request that fits is in `alone`, because no other request can be approved with it. */
export function planTogether(views: readonly CheckoutView[]): Plan {
  const judged = views.map((view) => {
    const mandate = view.mandates.find(({ mandateId }) => mandateId === defaultMandate(view));
    return { view, mandate, why: whyAlone(view, mandate) };
  });
  const fit = judged.flatMap(({ view, mandate, why }) => (mandate !== undefined && why === null ? [{ view, mandate }] : []));
  const together = fit.length > 1 ? fit : [];
  const alone = judged.flatMap(({ view, why }) =>
    why !== null ? [{ view, why }] : together.length === 0 ? [{ view, why: "No other request can be approved with it." }] : [],
  );
  const total = formatAmount(sumOf(together.map(({ view }) => view.amounts.chargedAmount)), DECIMALS);
  const refusal = whyNotTogether(together.map(({ view }) => view));
  return { together, alone, refusal, total, asset: together[0]?.view.intent.asset ?? "" };
}
