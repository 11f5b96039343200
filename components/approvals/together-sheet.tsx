"use client";

import { useMutation } from "@tanstack/react-query";
import Link from "next/link";
import { type FormEvent, useState } from "react";
import { approveCheckout } from "#components/checkout/calls.ts";
import { announce } from "#components/ui/announcements.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { Choice } from "#components/ui/choice.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { plural } from "#components/ui/plural.ts";
import { useSettled } from "#components/ui/settled.ts";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { call } from "#lib/http/client.ts";
import { decideEach, type Outcome } from "./decide-each.ts";
import { RequestFacts } from "./request-facts.tsx";
import type { Alone, Approvable, Plan } from "./together.ts";

/** The outcome of each decision, by the id of its checkout. */
type Outcomes = Readonly<Record<string, Outcome>>;

const approve = ({ view, mandate: { mandateId } }: Approvable, idempotencyKey: string) =>
  call(approveCheckout, { checkoutIntentId: view.intent.checkoutIntentId, body: { mandateId } }, { idempotencyKey });

const Result = ({ outcome }: { readonly outcome: Outcome }) =>
  outcome === "done" ? (
    <Badge tone="positive" icon="check">
      Approved
    </Badge>
  ) : (
    <span className="text-sm">Not approved: {outcome.why}</span>
  );

type RequestProps = {
  readonly one: Approvable;
  readonly place: string;
  readonly outcome: Outcome | undefined;
  /** Whether the requests cannot be approved together, so that the request has a link to its own page. */
  readonly alone: boolean;
};

function Request({ one, place, outcome, alone }: RequestProps) {
  return (
    <section className="panel" aria-label={`Request ${place}`}>
      <div className="panel-head">
        <h2>Request {place}</h2>
        {outcome !== undefined && <Result outcome={outcome} />}
        {(alone || (outcome !== undefined && outcome !== "done")) && (
          <Link className="text-sm" href={`/checkout/${one.view.intent.checkoutIntentId}`} aria-label={`Open request ${place}`}>
            Open
          </Link>
        )}
      </div>
      <RequestFacts {...one} />
    </section>
  );
}

const DecidedAlone = ({ alone }: { readonly alone: readonly Alone[] }) => (
  <Panel id="alone" title="Decide these on their own pages">
    <ul className="divide-y">
      {alone.map(({ view: { intent, amounts, payee }, why }) => (
        <li key={intent.checkoutIntentId} className="p-4 text-sm wrap-anywhere md:px-5">
          <Link href={`/checkout/${intent.checkoutIntentId}`}>
            <Money>{amounts.charged}</Money> to <Untrusted>{payee.domain}</Untrusted>
          </Link>
          <span className="block text-muted">{why}</span>
        </li>
      ))}
    </ul>
  </Panel>
);

const Done = ({ outcomes, count }: { readonly outcomes: Outcomes; readonly count: number }) => {
  const approved = Object.values(outcomes).filter((outcome) => outcome === "done").length;
  return (
    <output>
      <Notice tone={approved === count ? "positive" : "caution"}>
        <p>
          <strong>
            {approved} of {plural(count, "request")} approved.
          </strong>{" "}
          Each is an approval of its own. <Link href="/approvals">Back to the approvals</Link>
        </p>
      </Notice>
    </output>
  );
};

type DecideProps = { readonly plan: Plan; readonly busy: boolean; readonly onApprove: () => void };

function Decide({ plan: { together, total, asset }, busy, onApprove }: DecideProps) {
  const settled = useSettled();
  const sum = money(total, asset);
  const decide = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (settled && !busy) onApprove();
  };
  return (
    <form className="panel grid gap-4 p-4 md:p-5" method="post" onSubmit={decide} aria-label="Your decision">
      <Choice type="checkbox" name="read" required>
        <strong>I have read all {plural(together.length, "request")}</strong>
        <span>Together they pay {sum} to one payee.</span>
      </Choice>
      <p className="text-sm text-muted">
        Each becomes an approval of its own, and its remaining budget is shown without the others. If a request changes, it is not
        approved.
      </p>
      <Button
        className="justify-self-start"
        tone="primary"
        size="large"
        type="submit"
        aria-disabled={!settled || busy}
        aria-busy={busy}
      >
        <span className="wrap-anywhere [&_abbr]:text-inherit">
          Approve {together.length}, <Money>{sum}</Money> to <Untrusted>{together[0]?.view.payee.domain ?? ""}</Untrusted>
        </span>
      </Button>
    </form>
  );
}

export function TogetherSheet({ plan }: { readonly plan: Plan }) {
  const { together, alone, refusal } = plan;
  const [outcomes, setOutcomes] = useState<Outcomes>({});
  const approving = useMutation({
    mutationFn: () =>
      decideEach(together, approve, ({ view }, outcome) =>
        setOutcomes((before) => ({ ...before, [view.intent.checkoutIntentId]: outcome })),
      ),
    onSuccess: () => announce("All requests were answered."),
  });
  const isDone = approving.isSuccess;
  return (
    <div className="stack">
      {refusal !== null && <Notice tone="caution">{refusal}</Notice>}
      {isDone && <Done outcomes={outcomes} count={together.length} />}
      {together.map((one, at) => (
        <Request
          key={one.view.intent.checkoutIntentId}
          one={one}
          place={`${at + 1} of ${together.length}`}
          outcome={outcomes[one.view.intent.checkoutIntentId]}
          alone={refusal !== null}
        />
      ))}
      {refusal === null && together.length > 0 && !isDone && (
        <Decide plan={plan} busy={approving.isPending} onApprove={() => approving.mutate()} />
      )}
      {alone.length > 0 && <DecidedAlone alone={alone} />}
    </div>
  );
}
