"use client";

import Link from "next/link";
import { useRouter } from "next/navigation";
import { type FormEvent, useState } from "react";
import { approveCheckout } from "#components/checkout/calls.ts";
import { confirm, passwordError, type Proof } from "#components/checkout/decisions.ts";
import { StepUp, type Way } from "#components/checkout/step-up.tsx";
import { announce } from "#components/ui/announcements.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Button } from "#components/ui/button.tsx";
import { Choice } from "#components/ui/choice.tsx";
import { formText } from "#components/ui/form-text.ts";
import { Money, money } from "#components/ui/money.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { Panel } from "#components/ui/panel.tsx";
import { plural } from "#components/ui/plural.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
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

type DecideProps = {
  readonly plan: Plan;
  readonly path: string;
  readonly busy: boolean;
  readonly error: Error | null;
  readonly onApprove: (proof: Proof) => void;
};

function Decide({ plan: { together, total, asset, payees, proof }, path, busy, error, onApprove }: DecideProps) {
  const settled = useSettled();
  const [chosen, setChosen] = useState<Way>();
  const way = proof?.ways.find((one) => one === chosen) ?? proof?.ways[0];
  const sum = money(total, asset);
  const wrong = passwordError(error);
  const decide = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const password = way === "password" ? formText(new FormData(event.currentTarget), "password") : null;
    if (settled && !busy) onApprove({ way: way ?? null, password });
  };
  return (
    <form className="panel grid gap-4 p-4 md:p-5" method="post" onSubmit={decide} aria-label="Your decision">
      {wrong === undefined && <ProblemNotice error={error} nothing="Nothing was approved." />}
      <Choice type="checkbox" name="read" required>
        <strong>I have read all {plural(together.length, "request")}</strong>
        <span>
          Together they pay {sum} to {payees.length === 1 ? "one payee" : plural(payees.length, "payee")}:
        </span>
        {payees.map(({ name, charged }) => (
          <span key={name} className="wrap-anywhere">
            {charged} to <Untrusted>{name}</Untrusted>
          </span>
        ))}
      </Choice>
      <p className="text-sm text-muted">
        Each becomes an approval of its own, and its remaining budget is shown without the others. If a request changes, it is not
        approved.
      </p>
      {proof && (
        <StepUp
          ways={proof.ways}
          way={way}
          onChoose={setChosen}
          why={proof.why}
          signs="exactly these requests, their amounts and payees, and the sum"
          passkeyOnly={proof.passkeyOnly}
          error={wrong}
          path={path}
        />
      )}
      <Button
        className="justify-self-start"
        tone="primary"
        size="large"
        type="submit"
        disabled={proof !== null && way === undefined}
        aria-disabled={!settled || busy}
        aria-busy={busy}
      >
        <span className="wrap-anywhere [&_abbr]:text-inherit">
          Approve {together.length}, <Money>{sum}</Money> to{" "}
          {payees.length === 1 ? <Untrusted>{payees[0]?.name ?? ""}</Untrusted> : plural(payees.length, "payee")}
        </span>
      </Button>
    </form>
  );
}

export function TogetherSheet({ plan, path }: { readonly plan: Plan; readonly path: string }) {
  const { together, alone, refusal, amount } = plan;
  const router = useRouter();
  const [outcomes, setOutcomes] = useState<Outcomes>({});
  const approveAll = async (proof: Proof) => {
    const checkoutIntentIds = together.map(({ view }) => view.intent.checkoutIntentId);
    await confirm({ together: { checkoutIntentIds, amount } }, proof);
    await decideEach(together, approve, ({ view }, outcome) =>
      setOutcomes((before) => ({ ...before, [view.intent.checkoutIntentId]: outcome })),
    );
  };
  const { send, busy, error, isDone } = useOperation(approveAll, {
    done: () => announce("All requests were answered."),
    // A request that changed or was decided meanwhile moves to those that are decided alone.
    failed: (refusal) => passwordError(refusal) === undefined && router.refresh(),
    refresh: "never",
  });
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
        <Decide plan={plan} path={path} busy={busy} error={error} onApprove={send} />
      )}
      {alone.length > 0 && <DecidedAlone alone={alone} />}
    </div>
  );
}
