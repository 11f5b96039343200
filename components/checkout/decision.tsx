"use client";

import { type FormEvent, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Choice } from "#components/ui/choice.tsx";
import { TextArea } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { Money } from "#components/ui/money.tsx";
import { plural } from "#components/ui/plural.ts";
import { useSettled } from "#components/ui/settled.ts";
import type { CheckoutView, MandateView } from "#lib/approvals/checkout-view.ts";
import { useCountdown } from "./countdown.ts";
import type { useDecisions } from "./decisions.ts";
import { MoreTime } from "./more-time.tsx";
import { duration, shortDomain } from "./names.ts";
import { asksForPasskey, because, StepUp, type Way, waysOf } from "./step-up.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";

function Seen({ changes, view }: { readonly changes: number; readonly view: CheckoutView }) {
  return (
    <Choice className="rounded-sm bg-caution-wash px-4 py-3" type="checkbox" name="seen" required>
      <strong>I have read {changes === 0 ? "what changed" : `the ${plural(changes, "change")}`}</strong>
      <span>
        The new total is {view.amounts.charged} to {view.payee.domain}
      </span>
    </Choice>
  );
}

/** From this many seconds before the request expires, the page offers more time, if the request can have it. */
const URGENT = 300;

const Pledge = ({ view, seconds }: { readonly view: CheckoutView; readonly seconds: number }) => (
  <div className="grid gap-0.5 text-sm text-muted">
    {seconds > 0 ? (
      <p>
        You approve exactly this. If anything changes, your approval is not used. Open for{" "}
        <strong className="font-semibold whitespace-nowrap text-text tabular-nums">{duration(seconds)}</strong>.{" "}
        {view.moreTimeUntil !== undefined && seconds <= URGENT && (
          <MoreTime checkoutIntentId={view.intent.checkoutIntentId} until={view.moreTimeUntil} />
        )}
      </p>
    ) : (
      <p>This request has expired. Nothing was approved.</p>
    )}
    {view.agent.active && view.agent.paused && (
      <p className="text-caution">This agent is paused: it cannot use an approval until somebody resumes it.</p>
    )}
    {!view.agent.active && (
      <p className="text-caution">
        {view.agent.isServiceAccount ? "This agent was revoked" : "The person who asked has left the organization"}: an approval
        cannot be used any more.
      </p>
    )}
    <noscript>
      <p>Deciding needs JavaScript. This page shows everything that you would decide about.</p>
    </noscript>
  </div>
);

type ButtonsProps = {
  readonly view: CheckoutView;
  readonly closed: boolean;
  readonly busy: boolean;
  readonly settled: boolean;
  readonly mayApprove: boolean;
};

/**
 * On small screens the buttons stay at the lower edge of the window, whatever the length of the page; see base.css. On wide
 * screens they stay in view while their section is.
 */
const BAR =
  "lg:sticky lg:bottom-0 lg:bg-surface lg:py-1 max-lg:fixed max-lg:inset-x-0 max-lg:bottom-0 max-lg:z-10 max-lg:border-t max-lg:bg-surface max-lg:pt-2 max-lg:pr-[max(--spacing(4),env(safe-area-inset-right))] max-lg:pb-[max(--spacing(2),env(safe-area-inset-bottom))] max-lg:pl-[max(--spacing(4),env(safe-area-inset-left))]";

/** Longer domains are shortened, because the button is small. */
const CHARACTERS_MAX = 24;

function Buttons({ view: { amounts, payee }, closed, busy, settled, mayApprove }: ButtonsProps) {
  // This uses aria-disabled and not disabled, because a disabled button would lose the focus while the HTTP request runs.
  const state = { "aria-disabled": !settled || busy, "aria-busy": busy };
  return (
    <div id="decision-bar" className={`grid grid-cols-[1fr_2fr] gap-3 ${BAR}`}>
      <Button
        className="px-2"
        size="large"
        type="submit"
        name="decision"
        value="decline"
        formNoValidate
        disabled={closed}
        {...state}
      >
        Decline
      </Button>
      <Button
        className="px-2 [&_abbr]:text-[0.875em] [&_abbr]:text-inherit"
        tone="primary"
        size="large"
        type="submit"
        name="decision"
        value="approve"
        disabled={closed || !mayApprove}
        {...state}
      >
        <span className="min-w-0 wrap-anywhere [&_.money]:whitespace-normal">
          Approve <Money>{amounts.charged}</Money>{" "}
          <span className="block text-sm/4 font-450">to {shortDomain(payee.domain, CHARACTERS_MAX)}</span>
        </span>
      </Button>
    </div>
  );
}

const Reason = () => (
  <details>
    <summary>Declining? You can say why</summary>
    <div className="mt-3">
      <TextArea
        label="Reason for declining (optional)"
        name="reason"
        maxLength={280}
        hint="Whoever asked, and your organization’s audit log, receive it."
      />
    </div>
  </details>
);

/** On small screens the buttons stay in view, and a new notice above them may not. */
const bringIntoView = (node: HTMLElement | null) => node?.scrollIntoView({ block: "nearest" });

type Props = {
  readonly view: CheckoutView;
  readonly mandate: MandateView | undefined;
  /** How many basket lines changed while this page was open; null if the person need not confirm a change. */
  readonly changes: number | null;
  readonly decisions: ReturnType<typeof useDecisions>;
};

export function Decision({ view, mandate, changes, decisions }: Props) {
  const { error, passwordError, changedRequestId, stepUpAsked, sent: sending } = decisions;
  const path = `/checkout/${view.intent.checkoutIntentId}`;
  const settled = useSettled();
  const seconds = useCountdown(view.intent.expiresAt, view.now);
  const [asked, setAsked] = useState(false);
  const [chosen, setChosen] = useState<Way>();
  const passkeyOnly = asksForPasskey(view, mandate) || stepUpAsked === "passkey";
  const ways = waysOf({ view, passkeyOnly, asked: asked || stepUpAsked !== null });
  const way = ways?.find((one) => one === chosen) ?? ways?.[0];
  const closed = seconds === 0;
  const decide = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!settled || closed || sending) return;
    const form = new FormData(event.currentTarget);
    const { submitter } = event.nativeEvent as SubmitEvent;
    if (submitter?.getAttribute("value") === "decline") {
      decisions.decide({ decline: { reason: formText(form, "reason").trim() } });
    } else if (mandate !== undefined) {
      setAsked(ways !== null);
      const password = way === "password" ? formText(form, "password") : null;
      decisions.decide({ approve: { mandateId: mandate.mandateId, way: way ?? null, password } });
    }
  };
  return (
    <form className="grid gap-2.5 lg:gap-4" method="post" onSubmit={decide}>
      {error && passwordError === undefined && changedRequestId === undefined && (
        <div ref={bringIntoView}>
          <ProblemNotice error={error} nothing={decisions.nothing} />
        </div>
      )}
      <Pledge view={view} seconds={seconds} />
      {changes !== null && <Seen changes={changes} view={view} />}
      {ways && (
        <StepUp
          ways={ways}
          way={way}
          onChoose={setChosen}
          why={because(view.stepUp, passkeyOnly)}
          signs="exactly this basket, amount and payee"
          passkeyOnly={passkeyOnly}
          error={passwordError}
          wanted={stepUpAsked !== null}
          path={path}
        />
      )}
      <Reason />
      <Buttons
        view={view}
        closed={closed}
        busy={sending}
        settled={settled}
        mayApprove={(mandate?.match ?? false) && (ways === null || way !== undefined)}
      />
    </form>
  );
}
