import { Copyable } from "#components/ui/copyable.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { networkName } from "#lib/chains/network-name.ts";
import { Fold } from "./fold.tsx";

type Props = Pick<CheckoutView, "destination" | "intent"> & { readonly className: string };

export function Destination({ destination: { payTo, tokenAddress, chain }, intent: { asset }, className }: Props) {
  return (
    <Fold
      id="destination"
      title="Destination"
      note={<span className="lg:hidden">{`${payTo.slice(0, 6)}…${payTo.slice(-4)}, ${networkName(chain)}`}</span>}
      className={className}
    >
      <Pairs
        items={[
          ["Pays to", <Copyable key="to" value={payTo} label="destination address" />],
          [
            "Token",
            <span key="token">
              {asset}, contract <Copyable value={tokenAddress} label="token contract" />
            </span>,
          ],
          [
            "Network",
            <span key="chain">
              {networkName(chain)}, <code>{chain}</code>
            </span>,
          ],
        ]}
      />
      <details>
        <summary>Show full addresses</summary>
        <div className="mt-2">
          <Pairs
            items={[
              ["Pays to", <code key="to">{payTo}</code>],
              ["Token contract", <code key="token">{tokenAddress}</code>],
            ]}
          />
        </div>
      </details>
    </Fold>
  );
}
