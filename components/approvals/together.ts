import { defaultMandate } from "#components/checkout/default-mandate.ts";
import { visible } from "#lib/visible-text.ts";
import type { CheckoutView, MandateView, StepUpReason } from "#lib/approvals/checkout-view.ts";
import { displayText, formatAmount, min, parseAmount } from "#lib/money.ts";

/** The same number as TOGETHER_MAX of the contract, which a browser need not load. */
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
  /** The amounts in `together` without fees, added up; decimal text. */
  readonly amount: string;
  readonly asset: string;
  /** Everybody who is paid, with what they get: "45.00 USDC". */
  readonly payees: readonly { readonly name: string; readonly charged: string }[];
  /** The one proof of identity that is asked for all of them; null if none is needed. */
  readonly proof: {
    readonly passkeyOnly: boolean;
    readonly ways: readonly ("password" | "passkey")[];
    readonly why: string;
  } | null;
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

const asksForPasskey = ({ stepUp }: CheckoutView, mandate: MandateView): boolean =>
  !stepUp.byPasskey && [stepUp.assuranceAsked, mandate.assuranceAsked].includes("passkeyApproved");

/** Null if the request may be approved with others. */
function whyAlone(view: CheckoutView, mandate: MandateView | undefined): string | null {
  if (!isOpen(view)) return "It is not open any more.";
  if (!view.mayDecide) return "You may not decide this request.";
  if (view.before !== undefined) return "Its terms changed since you saw them.";
  if (mandate === undefined) return "You choose the mandate that pays it.";
  if (!mandate.match) return "The mandate does not cover it.";
  if (asksForPasskey(view, mandate) && !view.stepUp.hasPasskey) return "It asks for a passkey, and you have none.";
  return hostileFact(view);
}

/** The address that is paid, or the few characters that are known of an account. */
const whereTo = ({ elsewhere, destination: { payTo } }: CheckoutView): string =>
  elsewhere ? (elsewhere.account?.value ?? "no account") : `${payTo.slice(0, 6)}…${payTo.slice(-4)}`;

const payeeOf = (view: CheckoutView): string =>
  `${view.payee.domain} ${view.elsewhere ? whereTo(view) : view.destination.payTo.toLowerCase()}`;

const sumOf = (amounts: readonly string[]): bigint => amounts.reduce((sum, amount) => sum + parseAmount(amount, DECIMALS), 0n);

const smallestOf = (amounts: readonly string[]): string =>
  formatAmount(amounts.map((amount) => parseAmount(amount, DECIMALS)).reduce(min), DECIMALS);

function whyNotTogether(views: readonly CheckoutView[]): string | null {
  if (views.length > TOGETHER_MAX) return `At most ${TOGETHER_MAX} requests are approved together. Choose fewer.`;
  if (new Set(views.map(({ intent, destination }) => `${intent.asset} ${destination.chain}`)).size <= 1) return null;
  return "Requests are approved together only if they pay the same asset on the same network. These do not.";
}

/** One payee may have several addresses; then each address is a payee of its own, and its name shows the address. */
function payeesOf(views: readonly CheckoutView[]): Plan["payees"] {
  const groups = [...Map.groupBy(views, payeeOf).values()];
  return groups.map((group) => {
    const [view] = group as [CheckoutView];
    const { payee, intent } = view;
    const alone = groups.filter(([other]) => other?.payee.domain === payee.domain).length === 1;
    const charged = formatAmount(sumOf(group.map(({ amounts }) => amounts.chargedAmount)), DECIMALS);
    return {
      name: alone ? payee.domain : `${payee.domain} (${whereTo(view)})`,
      charged: displayText(charged, intent.asset),
    };
  });
}

const reasonWords: Readonly<Record<StepUpReason, string>> = {
  amount: "above what you may approve in 24 hours without a proof",
  unverifiedPayee: "above what unverified payees may get in 24 hours without a proof",
  sessionAge: "you signed in more than 15 minutes ago",
  firstPayment: "first payment to a seller",
};

/** Null if no proof is needed: each request has one already, or needs none and their sum stays within the room of a day. */
function proofOf(all: readonly Approvable[], sum: bigint): Plan["proof"] {
  const views = all.map(({ view }) => view);
  const [first] = views;
  if (first === undefined) return null;
  const passkeyOnly = all.some(({ view, mandate }) => asksForPasskey(view, mandate));
  const asked = views.filter(({ stepUp }) => stepUp.required && !stepUp.done);
  // One payee may have two seller records, of which only one is verified, so the room can differ. The smallest room counts.
  const room = smallestOf(views.map(({ stepUp }) => stepUp.room));
  const isAbove = sum > parseAmount(room, DECIMALS) && !views.every(({ stepUp }) => stepUp.done);
  if (!passkeyOnly && asked.length === 0 && !isAbove) return null;
  const reasons = new Set(asked.flatMap(({ stepUp }) => stepUp.reasons.map((reason) => reasonWords[reason])));
  const above = `together above the ${displayText(room, first.intent.asset)} that you may still approve in 24 hours without a proof`;
  const why = [
    ...(passkeyOnly ? ["one of them asks for a passkey"] : []),
    ...reasons,
    ...(isAbove && reasons.isDisjointFrom(new Set([reasonWords.amount, reasonWords.unverifiedPayee])) ? [above] : []),
  ];
  const { hasPasskey, hasPassword } = first.stepUp;
  const ways = [...(hasPasskey ? ["passkey" as const] : []), ...(hasPassword && !passkeyOnly ? ["password" as const] : [])];
  return { passkeyOnly, ways, why: `Reason: ${why.join("; ")}.` };
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
  const listed = together.map(({ view }) => view);
  const total = formatAmount(sumOf(listed.map(({ amounts }) => amounts.chargedAmount)), DECIMALS);
  const sum = sumOf(listed.map(({ intent }) => intent.amount));
  const refusal = whyNotTogether(listed);
  return {
    together,
    alone,
    refusal,
    total,
    amount: formatAmount(sum, DECIMALS),
    asset: listed[0]?.intent.asset ?? "",
    payees: payeesOf(listed),
    proof: refusal === null ? proofOf(together, sum) : null,
  };
}
