import { ReceiptLink } from "#components/receipts/receipt-link.tsx";
import { AskerSubject } from "#components/ui/asker-name.tsx";
import { Badge } from "#components/ui/badge.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutApproval } from "#lib/approvals/checkout-schema.ts";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import type { Asker } from "#lib/identity/asker.ts";
import { Cut } from "./cut.tsx";
import { spanName } from "./names.ts";
import { Record } from "./record.tsx";
import { Signatures } from "./signatures.tsx";
import { TakeBack } from "./take-back.tsx";
import { tightest } from "./tightest.ts";
import { Watch } from "./watch.tsx";

type Props = { readonly view: CheckoutView; readonly approval: CheckoutApproval; readonly signer: string };
type Stage = "waiting" | "continued" | "completed";

const stages: Readonly<Partial<Record<CheckoutView["intent"]["status"], Stage>>> = {
  authorized: "continued",
  executing: "continued",
  completed: "completed",
};

function Title({ stage, asker, isElsewhere }: Pick<StepsProps, "stage" | "asker" | "isElsewhere">) {
  if (isElsewhere)
    return (
      <>
        Approved. <AskerSubject asker={asker} /> pays elsewhere.
      </>
    );
  if (stage === "completed") return "Approved and paid.";
  if (stage === "waiting")
    return (
      <>
        Approved. Waiting for <AskerSubject asker={asker} inside />.
      </>
    );
  return (
    <>
      Approved. <AskerSubject asker={asker} /> continues.
    </>
  );
}

const TestPaymentLink = () => (
  <>
    {" "}
    A test payment that you began at <a href="/get-started#sample">Get started</a> goes on there.
  </>
);

type StepsProps = {
  readonly approval: CheckoutApproval;
  readonly asker: Asker;
  readonly stage: Stage;
  readonly isElsewhere: boolean;
  readonly sandbox: boolean;
  readonly authorizationId: string | undefined;
};

/** What comes after the approval of a payment that is made elsewhere. */
const PaidElsewhere = ({ asker, authorizationId }: Pick<StepsProps, "asker" | "authorizationId">) => (
  <>
    <li data-state="now">
      <h3>
        <AskerSubject asker={asker} /> pays elsewhere
      </h3>
      <p>The amount is held, and each part that was paid is recorded.</p>
    </li>
    <li>
      <h3>A person closes the payment</h3>
      <p>
        Until then the rest stays held.{" "}
        {authorizationId !== undefined && <a href={`/payments/${authorizationId}`}>Look at the payment</a>}
      </p>
    </li>
  </>
);

const Continued = ({ approval, asker, stage, sandbox, authorizationId }: StepsProps) => {
  const waiting = stage === "waiting";
  return (
    <>
      <li data-state={waiting ? "now" : "done"}>
        <h3>
          <AskerSubject asker={asker} /> {waiting ? "continues" : "continued"}{" "}
          {waiting && approval.expiresAt !== undefined && (
            <span className="when">
              until <Moment at={approval.expiresAt} show="time" />
            </span>
          )}
        </h3>
        <p>
          Your approval can be used once.
          {waiting && sandbox && asker.isReader && <TestPaymentLink />}
          {approval.continuationTokenId !== undefined && (
            <>
              {" "}
              Continuation <Copyable value={approval.continuationTokenId} label="continuation token id" head={8} /> is{" "}
              {approval.continuationTokenStatus}.
            </>
          )}
        </p>
      </li>
      <li data-state={stage === "completed" ? "done" : waiting ? undefined : "now"}>
        <h3>
          {stage === "completed" ? "Payment made" : "Payment runs"}{" "}
          {sandbox && <span className="when">sandbox, test money only</span>}
        </h3>
        <p>
          {stage === "completed" ? "The seller has accepted the order." : "The seller gets the payment, then confirms."}
          {authorizationId !== undefined && (
            <>
              {" "}
              <a href={`/payments/${authorizationId}`}>Look at the payment</a>
              {stage === "completed" && (
                <>
                  {" "}
                  or its <a href={`/payments/${authorizationId}/receipt`}>receipt</a>
                </>
              )}
              .
            </>
          )}
        </p>
      </li>
    </>
  );
};

function Steps(props: StepsProps) {
  const { approval } = props;
  return (
    <section className="border-t px-4 py-5 md:px-8 md:py-6" aria-labelledby="next">
      <h2 id="next" className="mb-4 text-base/6.5">
        What happens next
      </h2>
      <ol className="timeline">
        <li data-state="done">
          <h3>
            Approved <Moment at={approval.approvedAt ?? approval.createdAt} show="time" />
          </h3>
          <p>
            Approval <Copyable value={approval.approvalId} label="approval id" head={8} />{" "}
            <ReceiptLink of="approvals" id={approval.approvalId}>
              Signed approval
            </ReceiptLink>
          </p>
        </li>
        {props.isElsewhere ? <PaidElsewhere {...props} /> : <Continued {...props} />}
      </ol>
    </section>
  );
}

function After({ view, mandateId }: { readonly view: CheckoutView; readonly mandateId: string | undefined }) {
  const mandate = view.mandates.find((one) => one.mandateId === mandateId);
  const budget = mandate && tightest(mandate);
  return (
    <section className="grid gap-3 border-t px-4 py-5 text-sm md:px-8 md:py-6" aria-labelledby="after">
      <h2 id="after" className="text-base/6.5">
        What remains
      </h2>
      {mandate && budget && (
        <p className="wrap-anywhere">
          <strong className="font-semibold">
            <Money>{money(budget.available, budget.unit)}</Money>
          </strong>{" "}
          of <Money>{money(budget.limit, budget.unit)}</Money> {spanName(budget.window)}, under the mandate{" "}
          <a href={`/mandates/${mandate.mandateId}`}>
            <Untrusted>{mandate.name}</Untrusted>
          </a>
          .
        </p>
      )}
      <p>
        <a href="/approvals">All approvals</a>
      </p>
    </section>
  );
}

export function Receipt({ view, approval, signer }: Props) {
  const stage = stages[view.intent.status] ?? "waiting";
  const isElsewhere = view.elsewhere !== undefined;
  return (
    <div className="sheet">
      {stage !== "completed" && <Watch />}
      <div className="sheet-part upper">
        <div className="grid justify-items-start gap-3 border-b px-4 py-5 md:px-8 md:pt-8 md:pb-6">
          <Badge tone="positive" icon="check">
            Countersigned
          </Badge>
          <h1 className="text-2xl tracking-display md:text-3xl">
            <Title stage={stage} asker={view.agent} isElsewhere={isElsewhere} />
          </h1>
          <p className="max-w-[60ch] text-muted">
            You can close this page.
            {stage === "waiting" && approval.expiresAt !== undefined && (
              <>
                {" "}
                <AskerSubject asker={view.agent} /> has until <Moment at={approval.expiresAt} show="time" /> to continue; after
                that the approval lapses and nothing is paid.
              </>
            )}
          </p>
          {stage === "waiting" && view.mayDecide && <TakeBack checkoutIntentId={view.intent.checkoutIntentId} />}
        </div>
        <Record view={view} title="What was approved" />
      </div>
      <Cut hash={view.intent.basketHash} joined />
      <div className="sheet-part lower">
        <div className="counter">
          <Signatures
            view={view}
            state="signed"
            name={signer}
            what="Countersigned"
            detail={<Moment at={approval.approvedAt ?? approval.createdAt} />}
          />
        </div>
        <Steps
          approval={approval}
          asker={view.agent}
          stage={stage}
          isElsewhere={isElsewhere}
          sandbox={view.intent.environment === "sandbox"}
          authorizationId={view.authorizationId}
        />
        <After view={view} mandateId={approval.mandateId} />
      </div>
    </div>
  );
}
