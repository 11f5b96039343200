import { Badge } from "#components/ui/badge.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { networkName } from "#lib/chains/network-name.ts";
import type { ListedResource, Seller } from "#lib/sellers/resource-schema.ts";
import { ProvePayTo } from "./prove-pay-to.tsx";

type Props = { readonly resource: ListedResource; readonly seller: Seller; readonly mayManage: boolean };

export function PayeePanel({ resource, seller, mayManage }: Props) {
  const { paymentConfig, payToProven } = resource;
  if (!paymentConfig) return null;
  return (
    <section className="panel mb-6" aria-labelledby="payee">
      <div className="panel-head">
        <h2 id="payee">Address that is paid</h2>
        {payToProven ? (
          <Badge tone="positive" icon="shield">
            Proven
          </Badge>
        ) : (
          <Badge tone="caution" icon="warning">
            Not proven
          </Badge>
        )}
        <p>
          <Copyable value={paymentConfig.payTo} label="address that is paid" /> on {networkName(paymentConfig.chain)}
        </p>
      </div>
      {!payToProven && (
        <div className="panel-body grid grid-cols-1 gap-4">
          <p className="text-sm">
            Anybody can register an address. Prove that this one is yours, so that nobody else can have your payments settled. In
            production our facilitator settles payments only to proven addresses; a sandbox settles without a proof.
          </p>
          {mayManage ? (
            <ProvePayTo resource={resource} payTo={paymentConfig.payTo} chain={paymentConfig.chain} verified={seller.verified} />
          ) : (
            <p className="text-sm text-muted">An owner, admin or developer proves the address.</p>
          )}
        </div>
      )}
    </section>
  );
}
