"use client";

import { useState } from "react";
import { Copyable } from "#components/ui/copyable.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { Asks } from "./asks.tsx";
import { basketChanges } from "./basket-changes.ts";
import { BasketTable } from "./basket-table.tsx";
import { Cut } from "./cut.tsx";
import { Decision } from "./decision.tsx";
import { useDecisions } from "./decisions.ts";
import { Destination } from "./destination.tsx";
import { Effects } from "./effects.tsx";
import { MandateClause } from "./mandate-clause.tsx";
import { Signatures } from "./signatures.tsx";
import { Terms } from "./terms.tsx";

/** The mandate that the checkout names, otherwise the only mandate that covers it. If several cover it, the person chooses. */
export function defaultMandate({ intent, mandates }: CheckoutView): string | undefined {
  const named = intent.mandateId ?? intent.detectedMandateId;
  const matches = mandates.filter(({ match }) => match);
  const only = matches.length === 1 ? matches[0] : undefined;
  return mandates.find(({ mandateId }) => mandateId === named)?.mandateId ?? only?.mandateId;
}

const Changed = ({ clicked }: { readonly clicked: boolean }) => (
  <Notice tone="caution" role="alert">
    <h1 className="mb-1 text-xl">The basket changed. Nothing was approved.</h1>
    <p>
      The terms changed after this page was shown to you.{clicked && " Your click did not count. The changes are marked below."}{" "}
      Approve again only if you agree with the new total.
    </p>
  </Notice>
);

const Pledge = ({ view }: { readonly view: CheckoutView }) => (
  <p className="max-w-[66ch]">
    You approve exactly this: <strong className="money font-620">{view.amounts.charged}</strong> to{" "}
    <strong className="font-620 wrap-anywhere">{view.payee.domain}</strong> for the basket above. If anything changes, your
    approval does not count.
  </p>
);

const WhoCan = ({ organization }: Pick<CheckoutView, "organization">) => (
  <Notice>
    <p>
      <strong>You can read this request, but not decide it.</strong> Owners, admins and approvers of {organization.name} can. Send
      one of them the address of this page, or ask an owner for the role of approver.
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

type Props = { readonly view: CheckoutView; readonly viewer: string };

/** A checkout that waits for a decision. The server renders it; the browser only adds the countdown and the buttons. */
export function ApprovalSheet({ view, viewer }: Props) {
  const [before, setBefore] = useState<CheckoutView>();
  const [chosen, setChosen] = useState(defaultMandate(view));
  const decisions = useDecisions(view.intent.checkoutIntentId, { onChanged: () => setBefore(view) });
  const mandate = view.mandates.find(({ mandateId }) => mandateId === chosen);
  const shown = before?.intent.basketHash ?? view.before?.basketHash;
  const was = before?.amounts.charged ?? view.before?.displayAmount;
  const changed = before !== undefined || view.before !== undefined;
  const { agent, amounts, payee, intent } = view;
  return (
    <>
      {changed && <Changed clicked={before !== undefined} />}
      <div className="sheet">
        <div className="sheet-part upper">
          <Terms payee={payee} total={amounts.charged} chain={intent.chain} was={was} level={changed ? "h2" : "h1"} />
          <Asks view={view} mandate={mandate} />
          <div className="grid grid-cols-1 max-lg:divide-y lg:grid-cols-[minmax(0,1.5fr)_minmax(0,1fr)] lg:*:first:row-span-2 lg:*:last:col-span-full lg:*:nth-[n+3]:border-t lg:[&>:not(:first-child,:last-child)]:border-l">
            <BasketTable view={view} before={before} />
            <MandateClause view={view} mandate={mandate} {...(view.mayDecide && { onChoose: setChosen })} />
            <Destination destination={view.destination} intent={intent} />
            <Effects intent={intent} />
          </div>
        </div>
        <Cut hash={intent.basketHash} {...(shown !== undefined && { shownHash: shown })} />
        <div className="sheet-part lower">
          <div className="counter">
            <Signatures
              agent={agent.name}
              requestedAt={view.requestedAt}
              other={
                view.mayDecide
                  ? { state: "open", name: "", what: "Your countersignature", detail: `${viewer}, if you approve` }
                  : { state: "open", name: "", what: "Countersignature", detail: "An owner, admin or approver" }
              }
            />
            {view.mayDecide ? (
              <>
                <Pledge view={view} />
                <Decision
                  view={view}
                  mandate={mandate}
                  changes={
                    changed
                      ? basketChanges(view.lines, before?.lines ?? view.lines).filter(({ kind }) => kind !== "same").length
                      : null
                  }
                  decisions={decisions}
                />
              </>
            ) : (
              <WhoCan organization={view.organization} />
            )}
          </div>
        </div>
      </div>
      <Hashes view={view} shown={shown} requestId={decisions.changedRequestId} />
    </>
  );
}
