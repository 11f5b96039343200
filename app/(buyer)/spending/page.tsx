import Link from "next/link";
import type { SearchParams } from "#app/search-params.ts";
import { requireMember } from "#app/session.ts";
import { SpendingPanel } from "#components/buyer/spending-panel.tsx";
import { rangeItems, rangeOf, type Range } from "#components/spending/ranges.ts";
import { RefusalsPanel } from "#components/spending/refusals-panel.tsx";
import { SharePanel } from "#components/spending/share-panel.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { TabLinks } from "#components/ui/tab-links.tsx";
import { viewInsights, type CoinInsights } from "#lib/pages/buyer/view-insights.ts";
import { networkName } from "#lib/chains/network-name.ts";

export const metadata = { title: "Spending" };

const PATH = "/spending";

const Coin = ({ coin, range, alone }: { readonly coin: CoinInsights; readonly range: Range; readonly alone: boolean }) => {
  const { asset, chain, agents, sellers, mandates, rails } = coin;
  return (
    <div className="stack" {...(!alone && { role: "group", "aria-label": `${asset} on ${networkName(chain)}` })}>
      <SpendingPanel spending={coin} id={`spending-${chain}-${asset}`} />
      <div className={`grid grid-cols-1 gap-6 lg:gap-8 ${rails.length > 1 ? "lg:grid-cols-2" : "lg:grid-cols-3"}`}>
        <SharePanel by="agent" shares={agents} asset={asset} days={range} />
        <SharePanel by="seller" shares={sellers} asset={asset} days={range} />
        <SharePanel by="mandate" shares={mandates} asset={asset} days={range} />
        {rails.length > 1 && <SharePanel by="rail" shares={rails} asset={asset} days={range} />}
      </div>
    </div>
  );
};

export default async function SpendingPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const caller = await requireMember(PATH);
  if (!caller.capabilities.has("payments:read")) {
    return <NotForRole title="Spending" what="payments" who="All roles of the organization" />;
  }
  const range = rangeOf(one(await searchParams, "range"));
  const { coins, refusals } = await viewInsights(caller, range);
  const paid = coins.filter(({ agents }) => agents.length > 0);
  const shown = paid.length > 0 ? paid : coins.slice(0, 1);
  return (
    <>
      <PageHeader
        title="Spending"
        description="What your agents paid, and what was refused. Days are in UTC; amounts include fees."
      />
      <div className="stack">
        <TabLinks label="Range" items={rangeItems(PATH, range)} />
        {shown.map((coin) => (
          <Coin key={`${coin.chain} ${coin.asset}`} coin={coin} range={range} alone={shown.length === 1} />
        ))}
        {shown.length === 0 && (
          <section className="panel" aria-label="Spending">
            <Empty title="Nothing to show yet" action={<Link href="/mandates">Look at your mandates</Link>}>
              Charts appear here with the first mandate.
            </Empty>
          </section>
        )}
        <RefusalsPanel refusals={refusals} days={range} />
      </div>
    </>
  );
}
