import { accountText } from "#components/payments/payee.ts";
import { Copyable } from "#components/ui/copyable.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { networkName } from "#lib/chains/network-name.ts";
import { Fold } from "./fold.tsx";

type ElsewhereProps = { readonly elsewhere: NonNullable<CheckoutView["elsewhere"]>; readonly className: string };

export function Elsewhere({ elsewhere: { account, reference }, className }: ElsewhereProps) {
  const to = account ? accountText(account) : "No account is named";
  return (
    <Fold id="destination" title="Destination" note={<span className="lg:hidden">{to}</span>} className={className}>
      <Pairs
        items={[
          ["Account", <Untrusted key="account">{to}</Untrusted>],
          ["Reference", <Untrusted key="reference">{reference}</Untrusted>],
          ["Paid", "Elsewhere, such as by a transfer. Only the agent has the whole account."],
        ]}
      />
    </Fold>
  );
}

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
