import type { AlertRow } from "#lib/alerts/alert-store.ts";
import { quoted } from "#lib/mail/compose.ts";
import { problems } from "#lib/problem.ts";

export type AlertWords = {
  /** Phones show the title on the lock screen, so it contains no name and no amount. */
  readonly title: string;
  readonly text: string;
  readonly next: string;
  readonly path: `/${string}`;
  readonly label: string;
};

const refusalOf = (code: string): string =>
  (problems as Readonly<Record<string, { readonly title: string }>>)[code]?.title ?? code;

const recordWords = {
  exceeded:
    "An agent or a key recorded more for a payment than was held for it. It counts, also above the limits of the mandate.",
  overdue: "Nobody closed a payment until its deadline. Its amount is still held, and nothing was freed.",
} as const;

const cardWords = {
  exceeded: [
    "More was paid by card than was held",
    "A merchant captured more than the card was allowed to pay. It counts, also above the limits of the mandate.",
  ],
  outside: [
    "A card paid without asking",
    "Stripe let a card pay that the mandate did not allow or was not asked about. It counts when it is captured. At Stripe, set timeouts and errors to decline.",
  ],
  unconfirmed: [
    "Stripe has told nothing of a payment by card",
    "A card was allowed to pay four days ago, and Stripe has not told what became of it. Its amount is still held.",
  ],
  clearance: [
    "A card was declined until somebody clears it",
    "A card cannot wait for a person, so the purchase was declined. If you clear it, the same purchase passes once within 30 minutes.",
  ],
} as const;

export function alertWords({ facts, threshold }: Pick<AlertRow, "facts" | "threshold">): AlertWords {
  switch (facts.kind) {
    case "budget":
      return {
        title: threshold >= 100 ? "A budget is used up" : `${threshold}% of a budget is used`,
        text: `Payments under the mandate ${quoted(facts.name)} use ${facts.used} of ${facts.limit} ${facts.span}. Amounts that are reserved count too.`,
        next: "Payments above the limit are refused. You can raise the limit, or leave it as it is.",
        path: `/mandates/${facts.mandateId}`,
        label: "Look at the mandate",
      };
    case "refusals":
      return {
        title: "Many payments are refused for the same reason",
        text: `Within an hour ${threshold} or more payments under the mandate ${quoted(facts.name)} were refused for the same reason: ${refusalOf(facts.code)}.`,
        next: "The agent may be stuck, or the mandate may be too narrow.",
        path: "/payments?outcome=deny",
        label: "Look at the payments",
      };
    case "unknown":
      return {
        title: "The outcome of a payment is still unknown",
        text: `A payment${facts.amount === "" ? "" : ` of ${facts.amount}`} was submitted, and it is not known yet whether it was settled. Its amount stays reserved.`,
        next: "The service checks the chain again until it knows. It never pays twice. Do not pay again.",
        path: `/payments/${facts.authorizationId}`,
        label: "Look at the payment",
      };
    case "record":
      return {
        title: facts.asks === "exceeded" ? "More was paid than was held" : "A payment was not closed in time",
        text: `${recordWords[facts.asks]} It is made elsewhere and recorded here.`,
        next: "Compare what was recorded with your bank, and close the payment.",
        path: `/payments/${facts.authorizationId}`,
        label: "Look at the payment",
      };
    case "card":
      return {
        title: cardWords[facts.asks][0],
        text: cardWords[facts.asks][1],
        next:
          facts.asks === "clearance"
            ? "Clear it, and let the card be used again."
            : "Compare it with Stripe, and close the question.",
        path: `/payments/${facts.authorizationId}`,
        label: "Look at the payment",
      };
    case "lowBalance":
      return {
        title: "An account for gas is nearly empty",
        text: `The ${facts.key} on ${facts.chain} has little ether left to pay for transactions. Its address is ${facts.address}.`,
        next: "Send ether on that chain to this address. Without it, payments of registered mandates and revocations on chain wait.",
        path: "/admin/health",
        label: "Look at the health of the platform",
      };
    case "fewStandbys":
      return {
        title: "Fewer than two standbys of the database are in sync",
        text: `Commits wait for a standby, because synchronous_standby_names is ${quoted(facts.names)}. Only ${facts.inSync} can confirm them.`,
        next: "Start another standby. If the last one is lost too, nothing can be saved, so no payment is authorized and no mandate revoked.",
        path: "/admin/health",
        label: "Look at the health of the platform",
      };
  }
}
