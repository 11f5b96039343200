import Link from "next/link";
import { AskerName } from "#components/ui/asker-name.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Moment } from "#components/ui/moment.tsx";
import { Money } from "#components/ui/money.tsx";
import { plural } from "#components/ui/plural.ts";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { visible } from "#lib/visible-text.ts";
import type { ApprovalsView, WaitingApproval } from "#lib/pages/buyer/view-approvals.ts";

function timeLeft(until: string, now: string): string {
  const seconds = Math.max(0, Math.floor((Date.parse(until) - Date.parse(now)) / 1_000));
  if (seconds < 60) return "less than a minute";
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

type ItemProps = {
  readonly one: WaitingApproval;
  readonly now: string;
  readonly mayDecide: boolean;
  readonly choosable: boolean;
};

const Item = ({ one, now, mayDecide, choosable }: ItemProps) => (
  <li className="grid grid-cols-1 items-center gap-x-6 gap-y-2 p-4 md:grid-cols-[minmax(0,1fr)_auto_auto] md:px-5">
    <div className={choosable ? "relative pl-9" : undefined}>
      {choosable && (
        <input
          className="absolute top-0.5 left-0"
          type="checkbox"
          name="id"
          value={one.checkoutIntentId}
          aria-label={`Choose ${one.amount} to ${visible(one.domain)}`}
        />
      )}
      <h3 className="wrap-anywhere">
        <Untrusted>{one.domain}</Untrusted>
      </h3>
      <p className="text-sm wrap-anywhere text-muted">
        <AskerName asker={one.asker} />, asked <Moment at={one.requestedAt} show="short" />
      </p>
      <p className="text-sm wrap-anywhere text-muted">
        {one.mandate === undefined ? (
          `For ${one.why}`
        ) : (
          <>
            {one.why.startsWith("an order") && `For ${one.why}, paid under `}
            <Untrusted>{one.mandate}</Untrusted>
            {!one.why.startsWith("an order") && ` ${one.why}`}
          </>
        )}
      </p>
    </div>
    <div className="text-lg font-semibold md:text-right">
      <Money>{one.amount}</Money>
      <span className="block text-sm font-normal text-muted">
        expires in {timeLeft(one.expiresAt, now)}, <Moment at={one.expiresAt} show="short" />
      </span>
    </div>
    <Link
      className={buttonClass(mayDecide ? { tone: "primary" } : {})}
      href={`/checkout/${one.checkoutIntentId}`}
      aria-label={`${mayDecide ? "Review" : "Open"} ${one.amount} to ${visible(one.domain)}`}
    >
      {mayDecide ? "Review" : "Open"}
    </Link>
  </li>
);

type Props = {
  readonly waiting: ApprovalsView;
  readonly mayDecide: boolean;
  readonly choosable?: boolean;
};

export const WaitingList = ({ waiting, mayDecide, choosable = false }: Props) => (
  <ul className="divide-y">
    {waiting.items.map((one) => (
      <Item key={one.checkoutIntentId} one={one} now={waiting.now} mayDecide={mayDecide} choosable={choosable} />
    ))}
  </ul>
);

export const requestsWords = ({ items, more }: ApprovalsView): string =>
  `${more ? "more than " : ""}${plural(items.length, "request")}`;
