import { ShieldQuestion, TriangleAlert } from "lucide-react";
import { Badge } from "#components/ui/badge.tsx";
import { plural } from "#components/ui/plural.ts";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView, PayeeView } from "#lib/approvals/checkout-view.ts";
import { shortDomain } from "./names.ts";

const month = new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" });

function historyWords({ history: { paid, all, since, declined, refused } }: PayeeView): string {
  const from = since === undefined ? "" : month.format(new Date(since));
  const before =
    since === undefined
      ? "Never paid before"
      : paid === 0
        ? `First paid in ${from}`
        : `Paid ${all ? "" : "at least "}${plural(paid, "time")} since ${from}`;
  return [
    before,
    ...(declined > 0 ? [`${plural(declined, "request")} declined`] : []),
    ...(refused > 0 ? [`${plural(refused, "payment")} refused by a mandate`] : []),
  ].join(" · ");
}

/** In characters. */
const LOOKS_SHOWN = 24;
const WARNING = "flex gap-1.5 text-caution";

type Props = Pick<CheckoutView, "payee"> & { readonly elsewhere: CheckoutView["elsewhere"] };

const notChecked = (elsewhere: Props["elsewhere"]): string => {
  if (elsewhere === undefined) return "We have not checked that this domain is theirs.";
  return elsewhere.account === undefined
    ? "Nobody has checked this name, and no account is named."
    : "Nobody has checked this name, or whose account it is.";
};

export const KnownPayee = ({ payee, elsewhere }: Props) => (
  <div className="grid gap-1 text-sm text-muted wrap-anywhere">
    {payee.verified ? (
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Badge tone="positive" icon="shield">
          Verified seller
        </Badge>
        {payee.name !== undefined && (
          <span className="line-clamp-1">
            <Untrusted>{payee.name}</Untrusted>
          </span>
        )}
      </p>
    ) : (
      <p className={WARNING}>
        <ShieldQuestion className="icon mt-0.5 flex-none" aria-hidden />
        {notChecked(elsewhere)}
      </p>
    )}
    {payee.looksLike !== undefined && (
      <p className={WARNING}>
        <TriangleAlert className="icon mt-0.5 flex-none" aria-hidden />
        <span>
          Not <strong className="font-620">{shortDomain(payee.looksLike, LOOKS_SHOWN)}</strong>, which you paid before. The names
          look alike.
        </span>
      </p>
    )}
    <p className="line-clamp-1">
      {historyWords(payee)}
      {!payee.verified && payee.name !== undefined && (
        <>
          {" "}
          · <Untrusted>{payee.name}</Untrusted>
        </>
      )}
    </p>
    {payee.unicodeDomain !== undefined && (
      <p>
        International name, written <Untrusted>{payee.unicodeDomain}</Untrusted>
      </p>
    )}
  </div>
);
