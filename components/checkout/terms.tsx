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

/** The payee and the total, side by side at the top in the largest type. */
export function Terms({ payee, total, chain, was, level: Heading }: Props) {
  return (
    <div className="terms">
      <div>
        <p className="label">Pay to</p>
        <Heading className="big">{payee.domain}</Heading>
        <div className="under">
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
      <div className="sum">
        <p className="label">{was === undefined ? "Total" : "New total"}</p>
        <p className="big">
          <Money>{total}</Money>
        </p>
        <div className="under">
          {was === undefined || was === total ? (
            <span>On {networkName(chain)}</span>
          ) : (
            <span>
              Was <span className="was">{was}</span> when it was shown to you
            </span>
          )}
        </div>
      </div>
    </div>
  );
}
