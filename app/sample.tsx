import { SamplePayment } from "#components/start/sample-payment.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { env } from "#lib/env.ts";
import type { MemberCaller } from "#lib/http/operation.ts";
import { viewMandates } from "#lib/pages/buyer/view-mandates.ts";
import { sampleAsset } from "#lib/sandbox/sample-asset.ts";
import { askedSample } from "#lib/sandbox/samples.ts";

const MANDATES = 20;

type Props = { readonly caller: MemberCaller };

export async function ReadersSample({ caller }: Props) {
  const paid = sampleAsset();
  const may = (["mandates:read", "payments:authorize", "payments:execute", "payments:read"] as const).every((one) =>
    caller.capabilities.has(one),
  );
  if (!paid || !may) return null;
  const { items } = await viewMandates(caller, { status: "active", limit: MANDATES });
  const usable = items.filter(({ policy: { assets } }) =>
    assets.some(({ asset, chain }) => asset === paid.asset && chain === paid.chain),
  );
  // A mandate that names agents denies payments of every person, so such mandates come last.
  const inOrder = usable.toSorted((a, b) => Number(a.agents !== undefined) - Number(b.agents !== undefined));
  return (
    <Panel
      id="sample"
      title="A test payment"
      about="This page acts as your agent. A test wallet pays a sample seller of this sandbox, which knows nothing of Countersign."
    >
      <div className="panel-body">
        <SamplePayment
          baseUrl={env().BASE_URL}
          asset={paid.asset}
          mandates={inOrder.map(({ mandateId, name, policy }) => ({ mandateId, name, goods: askedSample(policy) }))}
        />
      </div>
    </Panel>
  );
}
