import { Clock, X } from "lucide-react";
import type { ReactNode } from "react";
import { Moment } from "#components/ui/moment.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { isolated } from "#lib/isolated.ts";
import { Cut } from "./cut.tsx";
import { Record } from "./record.tsx";
import { Signatures } from "./signatures.tsx";

type ClosedText = {
  readonly stamp: ReactNode;
  readonly title: string;
  readonly text: string;
  readonly what: string;
  readonly at: string | undefined;
  readonly icon: typeof X;
};

const again = "If the purchase is still wanted, it has to be asked for again, and you will see a new request.";

const nothing = "Nothing was approved, nothing was paid, and nothing is held under your mandate.";

type Sentence = Pick<ClosedText, "title" | "text" | "what"> & { readonly stamp: string };

const sentences: Readonly<Partial<Record<CheckoutView["intent"]["status"], Sentence>>> = {
  rejected: {
    stamp: "Declined",
    title: "Declined",
    text: "Nothing was paid, and nothing is held under your mandate. Whoever asked is told, and cannot buy this basket for the next hour.",
    what: "Declined",
  },
  canceled: {
    stamp: "Withdrawn",
    title: "This request was withdrawn",
    text: `${nothing} ${again}`,
    what: "Withdrawn",
  },
  superseded: {
    stamp: "Replaced",
    title: "The basket changed, so this request was replaced",
    text: "The seller’s terms are no longer what this page showed. Nothing was paid. If the purchase is still wanted, you see a new request with the new terms.",
    what: "Replaced by a new request",
  },
  failed: {
    stamp: "Failed",
    title: "The purchase did not go through",
    text: `The order failed after the approval. The held amount is released once it is certain that nothing was paid. ${again}`,
    what: "Failed",
  },
};

const takenBack: Sentence = {
  stamp: "Taken back",
  title: "The approval was taken back",
  text: "It had not been used. Nothing was paid, and nothing is held under your mandate. Whoever asked is told, and cannot buy this basket for the next hour.",
  what: "Taken back",
};

const sentenceOf = ({ intent, decided }: CheckoutView): Sentence | undefined =>
  decided?.takenBack ? takenBack : sentences[intent.status];

export const closedWord = (view: CheckoutView): string => sentenceOf(view)?.stamp ?? "Expired";

function explain(view: CheckoutView): ClosedText {
  const { intent, approval, decided } = view;
  const sentence = sentenceOf(view);
  if (decided?.takenBack) {
    const { by, at } = decided.takenBack;
    return { ...takenBack, what: `Taken back by ${isolated(by)}`, at, icon: X };
  }
  if (sentence) return { ...sentence, at: intent.status === "rejected" ? approval?.createdAt : undefined, icon: X };
  const at = approval?.expiresAt ?? intent.expiresAt;
  return {
    stamp: (
      <>
        Expired at <Moment at={at} show="time" />
      </>
    ),
    title: approval ? "The approval has lapsed" : "This request has expired",
    text: approval
      ? `It was not used in time. Nothing was paid, and nothing is held under your mandate. ${again}`
      : `${nothing} ${again}`,
    what: "Expired",
    at,
    icon: Clock,
  };
}

type Props = { readonly view: CheckoutView; readonly signer: string | undefined };

export function ClosedSheet({ view, signer }: Props) {
  const { stamp, title, text, what, at, icon: Icon } = explain(view);
  const declined = view.intent.status === "rejected" && view.decided?.takenBack === undefined && signer !== undefined;
  return (
    <div className="sheet">
      <div className="sheet-part upper">
        <div className="lapsed">
          <p className="inline-flex items-center gap-2 rounded-sm border-2 border-danger px-3 py-2 text-sm font-620 text-danger">
            <Icon className="icon" aria-hidden />
            <span>{stamp}</span>
          </p>
          <h1>{title}</h1>
          <p>{text}</p>
          {declined && view.decided?.reason !== undefined && (
            <p className="wrap-anywhere">
              The reason that was given: <Untrusted>{view.decided.reason}</Untrusted>
            </p>
          )}
          <p>
            <a href="/approvals">All approvals</a>
          </p>
        </div>
        <Record view={view} title="What was asked" />
      </div>
      <Cut hash={view.intent.basketHash} />
      <div className="sheet-part lower">
        <div className="counter">
          <Signatures
            view={view}
            state="void"
            name="Not countersigned"
            what={declined ? `Declined by ${isolated(signer)}` : what}
            detail={at === undefined ? null : <Moment at={at} />}
          />
        </div>
      </div>
    </div>
  );
}
