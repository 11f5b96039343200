"use client";

import { type FormEvent, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Choice } from "#components/ui/choice.tsx";
import { TextArea } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { Moment } from "#components/ui/moment.tsx";
import { Money } from "#components/ui/money.tsx";
import { useSettled } from "#components/ui/settled.ts";
import type { CheckoutView, MandateView } from "#lib/approvals/checkout-view.ts";
import { useCountdown } from "./countdown.ts";
import type { useDecisions } from "./decisions.ts";
import { duration, plural } from "./names.ts";
import { asksForPasskey, StepUp, type Way, waysOf } from "./step-up.tsx";
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

const Expiry = ({ view, seconds }: { readonly view: CheckoutView; readonly seconds: number }) => (
  <div className="grid gap-0.5 text-sm text-muted">
    <p>
      <span>
        This request expires at <Moment at={view.intent.expiresAt} show="time" />
        {seconds > 0 ? ", in " : "."}
        {seconds > 0 && <strong className="font-semibold whitespace-nowrap text-text tabular-nums">{duration(seconds)}</strong>}
      </span>
    </p>
    {seconds === 0 && <p>This request has expired. Nothing was approved.</p>}
    <noscript>
      <p>Deciding needs JavaScript. Everything above is what you would decide about.</p>
    </noscript>
  </div>
);

type ButtonsProps = {
  readonly charged: string;
  readonly closed: boolean;
  readonly busy: boolean;
  readonly settled: boolean;
  readonly mayApprove: boolean;
};

function Buttons({ charged, closed, busy, settled, mayApprove }: ButtonsProps) {
  // aria-disabled and not disabled: a disabled button would lose the focus while the request runs.
  const state = { "aria-disabled": !settled || busy, "aria-busy": busy };
  return (
    <div className="grid grid-cols-1 gap-3 *:whitespace-nowrap md:grid-cols-[1fr_1.4fr] lg:grid-cols-[12rem_17rem]">
      <Button size="large" type="submit" name="decision" value="decline" formNoValidate disabled={closed} {...state}>
        Decline
      </Button>
      <Button
        className="max-md:-order-1 [&_abbr]:text-[0.875em] [&_abbr]:text-inherit"
        tone="primary"
        size="large"
        type="submit"
        name="decision"
        value="approve"
        disabled={closed || !mayApprove}
        {...state}
      >
        Approve <Money>{charged}</Money>
      </Button>
    </div>
  );
}

const Reason = () => (
  <details className="col-span-full [&_.field]:mt-3 [&_.field]:max-w-136">
    <summary>Add a reason if you decline</summary>
    <TextArea
      label="Reason for declining (optional)"
      name="reason"
      maxLength={280}
      hint="The agent and your organization’s audit log receive it."
    />
  </details>
);

type Props = {
  readonly view: CheckoutView;
  readonly mandate: MandateView | undefined;
  /** How many lines changed since they were shown; null if the basket did not change. */
  readonly changes: number | null;
  readonly decisions: ReturnType<typeof useDecisions>;
};

/** The Approve and Decline buttons, at the end of the document and of equal size. */
export function Decision({ view, mandate, changes, decisions }: Props) {
  const { approve, decline, alone, error, passwordError, changedRequestId, stepUpAsked, busy } = decisions;
  const path = `/checkout/${view.intent.checkoutIntentId}`;
  const settled = useSettled();
  const seconds = useCountdown(view.intent.expiresAt, view.now);
  const [asked, setAsked] = useState(false);
  const [chosen, setChosen] = useState<Way>();
  const passkeyOnly = asksForPasskey(view, mandate) || stepUpAsked === "passkey";
  const ways = waysOf({ view, passkeyOnly, asked: asked || stepUpAsked !== null });
  const way = ways?.find((one) => one === chosen) ?? ways?.[0];
  const closed = seconds === 0;
  const sending = busy || approve.isSuccess || decline.isSuccess;
  const decide = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!settled || closed || sending) return;
    const form = new FormData(event.currentTarget);
    const { submitter } = event.nativeEvent as SubmitEvent;
    if (submitter?.getAttribute("value") === "decline") {
      const reason = formText(form, "reason").trim();
      approve.reset();
      alone(() => decline.mutate({ checkoutIntentId: view.intent.checkoutIntentId, body: reason === "" ? {} : { reason } }));
    } else if (mandate !== undefined) {
      decline.reset();
      setAsked(ways !== null);
      const password = way === "password" ? formText(form, "password") : null;
      alone(() => approve.mutate({ mandateId: mandate.mandateId, way: way ?? null, password }));
    }
  };
  return (
    <form className="grid gap-6" method="post" onSubmit={decide}>
      {error && passwordError === undefined && changedRequestId === undefined && (
        <ProblemNotice error={error} nothing={approve.error ? "Nothing was approved." : "Nothing was declined."} />
      )}
      {changes !== null && <Seen changes={changes} view={view} />}
      {ways && (
        <StepUp
          ways={ways}
          way={way}
          onChoose={setChosen}
          why={view.stepUp.reasons}
          passkeyOnly={passkeyOnly}
          error={passwordError}
          path={path}
        />
      )}
      <div className="grid grid-cols-1 items-center gap-x-8 gap-y-5 lg:grid-cols-[minmax(0,1fr)_auto]">
        <Expiry view={view} seconds={seconds} />
        <Buttons
          charged={view.amounts.charged}
          closed={closed}
          busy={sending}
          settled={settled}
          mayApprove={(mandate?.match ?? false) && (ways === null || way !== undefined)}
        />
        <Reason />
      </div>
    </form>
  );
}
