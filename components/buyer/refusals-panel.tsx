import Link from "next/link";
import { AskerName } from "#components/ui/asker-name.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Dated } from "#components/ui/dated.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money } from "#components/ui/money.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { Refusal } from "#lib/pages/buyer/view-refusals.ts";

export const RefusalsPanel = ({ refusals }: { readonly refusals: readonly Refusal[] }) => (
  <section className="panel" aria-labelledby="refused">
    <div className="panel-head">
      <h2 id="refused">Refused</h2>
      <span className="text-muted text-sm">The last 24 hours</span>
    </div>
    <ul className="divide-y">
      {refusals.map(({ authorizationId, payee, amount, asker, mandate, times, atLeast, at, why, fix }) => (
        <li
          key={authorizationId}
          className="grid grid-cols-1 items-center gap-x-6 gap-y-2 px-4 py-4 md:grid-cols-[minmax(0,1fr)_auto] md:px-5"
        >
          <div className="min-w-0 wrap-anywhere">
            <p>
              <Link className="font-560" href={`/payments/${authorizationId}`}>
                <Untrusted>{payee}</Untrusted>
              </Link>{" "}
              <Money>{amount}</Money>
            </p>
            <p className="text-sm text-muted">
              <Dated>{why}</Dated> <AskerName asker={asker} /> asked under <Untrusted>{mandate}</Untrusted>
              {times === 1 ? ", " : ` ${atLeast ? "at least " : ""}${times} times, last `}
              <Moment at={at} show="short" />.
            </p>
          </div>
          {fix && (
            <p>
              <Link className={buttonClass({ size: "small" })} href={fix.href}>
                {fix.label}
              </Link>
            </p>
          )}
        </li>
      ))}
    </ul>
  </section>
);
