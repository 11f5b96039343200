import Link from "next/link";
import { Because } from "#components/payments/verdict.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import type { NextStep } from "#lib/payments/next-steps.ts";
import type { PaymentView } from "#lib/pages/view-payment.ts";

/** What the reader can do about the payment now. */
export const NextPanel = ({ step, view }: { readonly step: NextStep; readonly view: PaymentView }) => (
  <section className="panel" aria-labelledby="next">
    <div className="panel-head">
      <h2 id="next">What you can do</h2>
    </div>
    <div className="panel-body grid gap-3">
      <Because view={view} />
      <p className="text-sm text-muted">{step.text}</p>
      {step.links.length > 0 && (
        <div className="actions">
          {step.links.map(({ href, label, primary }) => (
            <Link key={label} className={buttonClass(primary ? { tone: "primary" } : {})} href={href}>
              {label}
            </Link>
          ))}
        </div>
      )}
    </div>
  </section>
);
