import { denials, isDenial, type Remedy } from "#lib/mandates/policy/denials.ts";
import type { Stage } from "#lib/payments/stage.ts";

/** What a person can do about a payment now: a text, and links to pages. Pure and browser-safe. */
export type NextStep = {
  readonly text: string;
  readonly links: readonly { readonly href: string; readonly label: string; readonly primary?: true }[];
};

export type NextFacts = {
  readonly stage: Stage;
  /** Whether a card paid, or asked to. */
  readonly byCard: boolean;
  readonly denialCode: string | null;
  readonly authorizationId: string;
  readonly mandateId: string;
  readonly confirmPath: string | null;
  readonly may: { readonly decide: boolean; readonly manage: boolean };
  /** The link to a change that would end the denial; "passes" if the mandate no longer denies it; null if there is none. */
  readonly fix?: { readonly href: string; readonly label: string } | "passes" | null;
};

const edit = ({ mandateId, may }: NextFacts, label: string) =>
  may.manage ? { href: `/mandates/${mandateId}/edit`, label } : { href: `/mandates/${mandateId}`, label: "Look at the mandate" };

function remedyLinks(facts: NextFacts, remedy: Remedy): NextStep["links"] {
  switch (remedy) {
    case "none":
      return [];
    case "keys":
      return [{ href: "/settings/keys", label: "Agents and keys" }];
    case "mandate":
      return [{ href: `/mandates/${facts.mandateId}`, label: "Look at the mandate" }];
    case "policy":
      return [edit(facts, "Edit the mandate")];
  }
}

function asked(facts: NextFacts): NextStep {
  if (facts.confirmPath === null) return { text: "A person decides about it first.", links: [] };
  const confirm = { href: facts.confirmPath, label: "Decide now", primary: true } as const;
  return facts.may.decide
    ? { text: "Look at the request and approve or decline it. Until then nothing is paid.", links: [confirm] }
    : { text: "An owner, admin or approver decides about it. Until then nothing is paid.", links: [] };
}

const over = "Nothing was paid. Ask again with a new request.";

export function nextStepsOf(facts: NextFacts): NextStep {
  const { stage, denialCode } = facts;
  switch (stage.of) {
    case "outcome": {
      if (stage.status === "requireApproval") return asked(facts);
      if (!isDenial(denialCode)) return { text: over, links: [] };
      const { cure, remedy } = denials[denialCode];
      if (facts.fix === "passes")
        return { text: "Under the mandate as it is now, this request would pass. Ask again.", links: [] };
      if (facts.fix && facts.may.manage) {
        const { href, label } = facts.fix;
        const fix = { href, label: `Fix it: ${label}`, primary: true } as const;
        return { text: `${cure} You see first what the change lets through.`, links: [fix, ...remedyLinks(facts, remedy)] };
      }
      const owners = remedy === "policy" && !facts.may.manage ? " An owner or admin can change the mandate." : "";
      return { text: `${cure}${owners}`, links: remedyLinks(facts, remedy) };
    }
    case "reservation":
      return reservationStep(facts, stage.status);
    case "repeat":
      return {
        text: "The same payment was asked for before. What a person decides about that request counts, and only its agent can pay with it.",
        links: facts.confirmPath === null ? [] : [{ href: facts.confirmPath, label: "Look at that request" }],
      };
    case "checkout":
      return stage.status === "approved"
        ? { text: "It is approved and will be paid. You need to do nothing.", links: [] }
        : { text: over, links: [] };
    case "settlement":
      return settlementStep(facts, stage.status);
  }
}

function reservationStep(facts: NextFacts, status: Extract<Stage, { of: "reservation" }>["status"]): NextStep {
  switch (status) {
    case "held":
      return {
        text: "It is paid, or the hold ends by itself. Revoke or pause the mandate to stop it.",
        links: [edit(facts, "Edit the mandate")],
      };
    case "submitted":
      if (facts.byCard)
        return { text: "Stripe tells what it captures. You need to do nothing unless you are asked above.", links: [] };
      return {
        text: "Compare what was recorded with your bank, and close the payment. Until then the rest stays held.",
        links: [],
      };
    case "captured":
      if (facts.byCard)
        return { text: "Something wrong? Ask the merchant for a refund, or dispute the payment at Stripe.", links: [] };
      return { text: "It is recorded. If money comes back, record the refund.", links: [] };
    case "released":
    case "expired":
      return { text: facts.byCard ? "Stripe captured nothing. The amount is free again." : over, links: [] };
  }
}

function settlementStep(facts: NextFacts, status: Extract<Stage, { of: "settlement" }>["status"]): NextStep {
  switch (status) {
    case "pending":
    case "processing":
      return { text: "You need to do nothing. The outcome appears here as soon as the network shows it.", links: [] };
    case "unknown":
      return {
        text: "You need to do nothing, and must not pay again. We ask the network until it shows the outcome, at the latest when the credential expires.",
        links: [],
      };
    case "failed":
      return { text: over, links: [] };
    case "settled":
      return {
        text: "Something wrong? Ask the seller for a refund first. To keep agents from paying this seller again, forbid it in the mandate.",
        links: [{ href: `/payments/${facts.authorizationId}/receipt`, label: "Receipt" }, edit(facts, "Forbid this seller")],
      };
  }
}
