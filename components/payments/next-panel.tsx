import Link from "next/link";
import { AllowOnce } from "#components/payments/allow-once.tsx";
import { AllowedOnce } from "#components/payments/allowed-once.tsx";
import { payeeOf } from "#components/payments/payee.ts";
import { Because } from "#components/payments/verdict.tsx";
import { money } from "#components/ui/money.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Panel } from "#components/ui/panel.tsx";
import type { NextStep } from "#lib/payments/refusals/next-steps.ts";
import type { PaymentView } from "#lib/pages/buyer/view-payment.ts";

type Props = {
  readonly step: NextStep;
  readonly view: PaymentView;
  readonly mayAllowOnce: boolean;
};

export const NextPanel = ({ step, view, mayAllowOnce }: Props) => (
  <Panel id="next" title="What you can do">
    <div className="panel-body grid gap-3">
      <Because view={view} />
      {view.allowed && view.payment.authorization.policyDecision.outcome === "deny" && <AllowedOnce allowed={view.allowed} />}
      {mayAllowOnce && (
        <AllowOnce
          authorizationId={view.payment.authorization.authorizationId}
          asker={view.asker}
          payee={payeeOf(view.payment.intent)}
          amount={money(view.amounts.total, view.payment.intent.asset)}
          byCard={view.carded !== null}
        />
      )}
      <p className="text-sm text-muted">{step.text}</p>
      {step.links.length > 0 && (
        <div className="actions">
          {step.links.map(({ href, label, primary }) => (
            <Link key={label} className={buttonClass(primary && !mayAllowOnce ? { tone: "primary" } : {})} href={href}>
              {label}
            </Link>
          ))}
        </div>
      )}
    </div>
  </Panel>
);
