import { Copyable } from "#components/ui/copyable.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView, MandateView } from "#lib/approvals/checkout-view.ts";
import { ago } from "./names.ts";

type Props = { readonly view: CheckoutView; readonly mandate: MandateView | undefined };

function Why({ view: { intent, mandates, mayDecide }, mandate }: Props) {
  if (mandate !== undefined && intent.mandateStatus === "approval_required") {
    return (
      <p>
        Your mandate{" "}
        <strong>
          <Untrusted>{mandate.name}</Untrusted>
        </strong>{" "}
        asks a person before a payment like this one.
      </p>
    );
  }
  if (mandate?.match) {
    return (
      <p>
        The agent wants to buy this under your mandate{" "}
        <strong>
          <Untrusted>{mandate.name}</Untrusted>
        </strong>
        . It cannot continue until {mayDecide ? "you decide" : "somebody decides"}.
      </p>
    );
  }
  if (mandates.some(({ match }) => match)) {
    return (
      <p>
        The agent asks you to choose the mandate that pays. It cannot continue until{" "}
        {mayDecide ? "you decide" : "somebody decides"}.
      </p>
    );
  }
  return <p>No mandate of yours covers this payment as it is. You can decline, or change a mandate and open this page again.</p>;
}

const ASK = "grid content-start gap-2 p-4 text-sm text-muted md:px-8 [&_strong]:font-560 [&_strong]:text-text";

/** The agent that requests the payment, and why it needs a person's approval. */
export function Asks({ view, mandate }: Props) {
  const { agent, organization, requestedAt, now } = view;
  return (
    <div className="grid grid-cols-1 border-y bg-sunken max-lg:divide-y lg:grid-cols-[minmax(0,1.5fr)_minmax(0,1fr)] lg:divide-x">
      <div className={ASK}>
        <h2 className="text-base text-text">Who asks</h2>
        <p className="wrap-anywhere">
          <strong>
            <Untrusted>{agent.name}</Untrusted>
          </strong>{" "}
          <Copyable value={agent.subjectId} label="service account id" head={7} />
          <br />
          Service account of <Untrusted>{organization.name}</Untrusted>, requested {ago(requestedAt, now)}
        </p>
        {!agent.active && <p className="text-caution">This service account was revoked: it cannot use an approval any more.</p>}
      </div>
      <div className={ASK}>
        <h2 className="text-base text-text">Why you are asked</h2>
        <Why view={view} mandate={mandate} />
      </div>
    </div>
  );
}
