import Link from "next/link";
import { AskerName } from "#components/ui/asker-name.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Moment } from "#components/ui/moment.tsx";
import { Money } from "#components/ui/money.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { ApprovalsView } from "#lib/pages/buyer/view-approvals.ts";
import { visible } from "#lib/visible-text.ts";

type Asking = ApprovalsView["asking"][number];

const Why = ({ one: { asks, deadline } }: { readonly one: Asking }) =>
  asks === "exceeded" ? (
    <>More was paid than was held.</>
  ) : (
    <>
      Nobody closed it until <Moment at={deadline} show="short" />. It is still held.
    </>
  );

type Props = { readonly asking: readonly Asking[]; readonly mayClose: boolean };

/** Payments that are made elsewhere, about which a person is asked. */
export function AskingPanel({ asking, mayClose }: Props) {
  if (asking.length === 0) return null;
  const verb = mayClose ? "Close" : "Open";
  return (
    <Panel id="asking" title="Payments to close" about="Made elsewhere and recorded here. Compare them with your bank.">
      <ul className="divide-y">
        {asking.map((one) => (
          <li
            key={one.authorizationId}
            className="grid grid-cols-1 items-center gap-x-6 gap-y-2 p-4 md:grid-cols-[minmax(0,1fr)_auto_auto] md:px-5"
          >
            <div>
              <h3 className="wrap-anywhere">
                <Untrusted>{one.payee}</Untrusted>
              </h3>
              <p className="text-sm wrap-anywhere text-muted">
                <Why one={one} />
              </p>
              <p className="text-sm wrap-anywhere text-muted">
                <AskerName asker={one.asker} />, under <Untrusted>{one.mandate}</Untrusted>
              </p>
            </div>
            <div className="text-lg font-semibold md:text-right">
              <Money>{one.amount}</Money>
              <span className="block text-sm font-normal text-muted">{one.paid} recorded as paid</span>
            </div>
            <Link
              className={buttonClass(mayClose ? { tone: "primary" } : {})}
              href={`/payments/${one.authorizationId}#recorded`}
              aria-label={`${verb} ${one.amount} to ${visible(one.payee)}`}
            >
              {verb}
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
