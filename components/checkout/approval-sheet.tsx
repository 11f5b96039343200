"use client";

import { type ReactNode, useState } from "react";
import { Copyable } from "#components/ui/copyable.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { basketChanges } from "./basket-changes.ts";
import { BasketTable } from "./basket-table.tsx";
import { Cut } from "./cut.tsx";
import { Decision } from "./decision.tsx";
import { useDecisions } from "./decisions.ts";
import { selectedMandate } from "./default-mandate.ts";
import { earlierAmount } from "./earlier-amount.ts";
import { Essentials } from "./essentials.tsx";
import { useFollow } from "./follow.ts";
import { MandateClause, mustChoose } from "./mandate-clause.tsx";
import { Terms } from "./terms.tsx";

/** On wide screens, the basket is on the left, the decision on the right, and the mandate below the decision. */
const PLACES = {
  decision: "lg:col-start-2 lg:row-start-1 lg:border-l",
  basket: "lg:col-start-1 lg:row-span-2 lg:row-start-1",
  mandate: "lg:col-start-2 lg:row-start-2 lg:border-t lg:border-l",
} as const;

const Changed = ({ clicked }: { readonly clicked: boolean }) => (
  <Notice tone="caution" role="alert">
    <h1 className="mb-1 text-xl">The basket changed. Nothing was approved.</h1>
    <p>
      The terms changed after this page was shown to you.{clicked && " Your click did not count. The changes are marked below."}{" "}
      Approve again only if you agree with the new total.
    </p>
  </Notice>
);

const WhoCan = ({ organization }: Pick<CheckoutView, "organization">) => (
  <Notice>
    <p>
      <strong>You can read this request, but not decide it.</strong> Owners, admins and approvers of{" "}
      <Untrusted>{organization.name}</Untrusted> can. Send one of them the address of this page, or ask an owner for the role of
      approver.
    </p>
  </Notice>
);

type HashesProps = { readonly view: CheckoutView; readonly shown: string | undefined; readonly requestId: string | undefined };

function Hashes({ view, shown, requestId }: HashesProps) {
  return (
    <footer className="flex flex-wrap justify-between gap-x-6 gap-y-2 px-1 pt-6 text-sm text-muted md:px-0">
      <span>
        Basket hash{shown === undefined ? "" : " now"}{" "}
        <Copyable value={view.intent.basketHash} label="basket hash" head={8} tail={8} />
        {shown !== undefined && shown !== view.intent.basketHash && (
          <>
            {" "}
            shown to you <Copyable value={shown} label="basket hash shown before" head={8} tail={8} />
          </>
        )}
      </span>
      {requestId !== undefined && (
        <span>
          Answer <code>checkout_changed</code>, request id <Copyable value={requestId} label="request id" head={8} />
        </span>
      )}
    </footer>
  );
}

type Props = {
  readonly view: CheckoutView;
  /** The server renders these sections, so that browsers do not load their code. */
  readonly children: ReactNode;
};

const countChanges = (view: CheckoutView, before: CheckoutView | undefined): number =>
  basketChanges(view.lines, before?.lines ?? view.lines).filter(({ kind }) => kind !== "same").length;

export function ApprovalSheet({ view, children }: Props) {
  const { intent } = view;
  const [before, setBefore] = useState<CheckoutView>();
  const [chosen, setChosen] = useState<string>();
  const decisions = useDecisions(intent.checkoutIntentId, () => setBefore(view));
  useFollow(intent, !decisions.sent);
  const selected = selectedMandate(view, chosen);
  const mandate = view.mandates.find(({ mandateId }) => mandateId === selected);
  const shown = before?.intent.basketHash ?? view.before?.basketHash;
  const changed = before !== undefined || view.before !== undefined;
  const choosing = mustChoose(view, mandate);
  const basket = <BasketTable view={view} before={before} open={changed} className={PLACES.basket} />;
  const clause = (
    <MandateClause view={view} mandate={mandate} className={PLACES.mandate} {...(view.mayDecide && { onChoose: setChosen })} />
  );
  return (
    <>
      {changed && <Changed clicked={before !== undefined} />}
      <div className="sheet max-lg:shadow-none">
        <div className="sheet-part upper">
          <Terms view={view} was={earlierAmount(view, before)} level={changed ? "h2" : "h1"} />
          <Essentials view={view} mandate={mandate} />
        </div>
        <Cut hash={intent.basketHash} {...(shown !== undefined && { shownHash: shown })} />
        <div className="sheet-part lower grid grid-cols-1 max-lg:divide-y lg:grid-cols-[minmax(0,1.5fr)_minmax(0,1fr)] lg:grid-rows-[auto_1fr]">
          {changed && basket}
          {choosing && clause}
          <section className={`px-4 pt-1 pb-4 lg:px-8 lg:py-4 ${PLACES.decision}`} aria-labelledby="decision">
            <h2 id="decision" className="max-lg:sr-only lg:mb-2 lg:text-base/6">
              Your decision
            </h2>
            {view.mayDecide ? (
              <Decision
                view={view}
                mandate={mandate}
                changes={changed ? countChanges(view, before) : null}
                decisions={decisions}
              />
            ) : (
              <WhoCan organization={view.organization} />
            )}
          </section>
          {!changed && basket}
          {!choosing && clause}
          {children}
        </div>
      </div>
      <Hashes view={view} shown={shown} requestId={decisions.changedRequestId} />
    </>
  );
}
