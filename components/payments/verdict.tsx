import Link from "next/link";
import { StageBadge } from "#components/payments/stage-badge.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { denials, isDenial } from "#lib/mandates/policy/denials.ts";
import type { PaymentView } from "#lib/pages/buyer/view-payment.ts";

type Props = { readonly view: PaymentView };

function Mandate({ view: { mandate } }: Props) {
  const { mandateId, name, policyVersion, version } = mandate;
  return (
    <>
      <Link href={`/mandates/${mandateId}`}>
        <Untrusted>{name}</Untrusted>
      </Link>
      , version {policyVersion}
      {version !== policyVersion && ` (now ${version})`}
    </>
  );
}

export function Verdict({ view }: Props) {
  const { outcome, createdAt } = view.payment.authorization.policyDecision;
  const waived = outcome === "allow" && view.allowed !== null;
  const allowed = waived ? "Allowed once by a person under " : "Allowed by ";
  const verb = { allow: allowed, deny: "Denied by ", requireApproval: "A person is asked by " }[outcome];
  return (
    <span className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <StageBadge stage={view.stage} />
      <span>
        {verb}
        <Mandate view={view} />
        {outcome === "allow" && !view.checkout && !waived ? ", without asking you," : ","} on <Moment at={createdAt} />
      </span>
    </span>
  );
}

export function Because({ view }: Props) {
  const { denialCode } = view.payment.authorization.policyDecision;
  return isDenial(denialCode) ? (
    <p>
      <strong className="font-semibold">{denials[denialCode].means}</strong>{" "}
      {view.carded ? "Stripe was told no." : "Nothing was paid, and nothing is held."}
    </p>
  ) : null;
}
