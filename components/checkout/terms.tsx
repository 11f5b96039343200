import { Badge } from "#components/ui/badge.tsx";
import { Money } from "#components/ui/money.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { networkName } from "#lib/chains/network-name.ts";

export const SellerBadge = ({ verified }: { readonly verified: boolean }) =>
  verified ? (
    <Badge tone="positive" icon="shield">
      Verified seller
    </Badge>
  ) : (
    <Badge tone="caution" icon="warning">
      Not verified
    </Badge>
  );

type Props = {
  readonly payee: CheckoutView["payee"];
  readonly total: string;
  readonly chain: string;
  /** The total that was shown before, if it differs. */
  readonly was?: string | undefined;
  readonly level: "h1" | "h2";
};

const BIG = "text-[clamp(2.125rem,1.2rem+3.6vw,3rem)]/[1.08] font-semibold tracking-display wrap-anywhere";
const UNDER = "mt-3 flex min-h-6 flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted";

/** The payee and the total, side by side at the top in the largest type. */
export function Terms({ payee, total, chain, was, level: Heading }: Props) {
  return (
    <div className="grid grid-cols-1 items-end gap-5 px-4 py-5 md:grid-cols-[minmax(0,1fr)_auto] md:gap-6 md:px-8 md:pt-8 md:pb-6">
      <div>
        <p className="mb-1 text-sm text-muted">Pay to</p>
        <Heading className={BIG}>{payee.domain}</Heading>
        <div className={UNDER}>
          <SellerBadge verified={payee.verified} />
          {payee.unicodeDomain !== undefined && (
            <span>
              International name, written <Untrusted>{payee.unicodeDomain}</Untrusted>
            </span>
          )}
          {payee.name !== undefined && (
            <span className="wrap-anywhere">
              Calls itself <Untrusted>{payee.name}</Untrusted>
            </span>
          )}
        </div>
      </div>
      <div className="max-md:border-t max-md:pt-5 md:text-right">
        <p className="mb-1 text-sm text-muted">{was === undefined ? "Total" : "New total"}</p>
        <p
          className={`${BIG} [&_.money]:[word-spacing:-0.1em] [&_abbr]:text-[0.5em] [&_abbr]:font-medium [&_abbr]:tracking-normal`}
        >
          <Money>{total}</Money>
        </p>
        <div className={`${UNDER} md:justify-end`}>
          {was === undefined || was === total ? (
            <span>On {networkName(chain)}</span>
          ) : (
            <span>
              Was <span className="line-through">{was}</span> when it was shown to you
            </span>
          )}
        </div>
      </div>
    </div>
  );
}
