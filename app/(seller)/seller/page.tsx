import { Suspense } from "react";
import { requireMember } from "#app/session.ts";
import { FirstSteps } from "#components/seller/first-steps.tsx";
import { ReceivedLedger } from "#components/seller/received-ledger.tsx";
import { ResourcesLedger } from "#components/seller/resources-ledger.tsx";
import { RevenuePanel } from "#components/seller/revenue-panel.tsx";
import { isPayable } from "#components/seller/words.ts";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Panel, PanelLink } from "#components/ui/panel.tsx";
import { Skeleton } from "#components/ui/skeleton.tsx";
import { viewDueSellerFees, type DueFees } from "#lib/pages/view-seller-fees.ts";
import type { PaidResource } from "#lib/sellers/resource-schema.ts";
import { readReceived } from "#lib/settlement/list-settlements.ts";
import { viewResources } from "#lib/pages/view-resources.ts";
import { viewRevenue, type Revenue } from "#lib/pages/view-revenue.ts";
import { viewSellers } from "#lib/pages/view-sellers.ts";

export const metadata = { title: "Selling" };

const PATH = "/seller";
const RECENT = 6;

async function view(caller: Awaited<ReturnType<typeof requireMember>>) {
  const may = {
    payments: caller.capabilities.has("payments:read"),
    resources: caller.capabilities.has("sellers:read"),
    fees: caller.capabilities.has("billing:read"),
  };
  const [received, due, own, resources] = await Promise.all([
    may.payments ? readReceived(caller, { limit: RECENT }) : null,
    may.fees ? viewDueSellerFees(caller.organizationId) : null,
    may.resources ? viewSellers(caller) : null,
    may.resources ? viewResources(caller, { archived: false, limit: RECENT }) : null,
  ]);
  return { received, due, sellers: own?.sellers ?? null, resources };
}

type RevenueProps = { readonly revenue: Promise<readonly Revenue[]>; readonly due: readonly DueFees[] | null };

/** Waits inside Suspense, so that the page appears before the revenue is summed. */
async function RevenuePanels({ revenue, due }: RevenueProps) {
  return (await revenue).map((one) => <RevenuePanel key={`${one.chain} ${one.asset}`} revenue={one} due={due} />);
}

type SaleProps = { readonly resources: readonly PaidResource[]; readonly revenue: Promise<readonly Revenue[]> };

async function ForSale({ resources, revenue }: SaleProps) {
  return <ResourcesLedger resources={resources} archived={false} revenue={(await revenue)[0] ?? null} />;
}

export default async function SellerPage() {
  const caller = await requireMember(PATH);
  const { received, due, sellers, resources } = await view(caller);
  if (received === null && resources === null)
    return <NotForRole title="Selling" what="sales" who="Owners, admins, developers, finance and viewers" />;

  const paid = (received?.items.length ?? 0) > 0;
  const revenue = paid ? viewRevenue(caller) : Promise.resolve([]);
  const forSale = resources?.items ?? [];
  return (
    <>
      <PageHeader title="Selling" description="What agents buy from you, and your revenue." />
      <div className="stack">
        {!paid && sellers !== null && (
          <FirstSteps
            registered={sellers.length > 0}
            verified={sellers.some(({ verified }) => verified)}
            payable={forSale.some(isPayable)}
            mayManage={caller.capabilities.has("sellers:manage")}
          />
        )}
        {paid && (
          <Suspense fallback={<Skeleton label="Loading revenue" rows={5} />}>
            <RevenuePanels revenue={revenue} due={due} />
          </Suspense>
        )}
        {received !== null && (
          <Panel
            id="received"
            title="Payments received"
            aside={paid && <PanelLink href="/seller/payments">All payments</PanelLink>}
          >
            {paid ? (
              <ReceivedLedger payments={received.items} />
            ) : (
              <Empty title="No payments yet">Each payment to one of your resources is listed here once it is submitted.</Empty>
            )}
          </Panel>
        )}
        {forSale.length > 0 && (
          <Panel id="resources" title="Resources" aside={<PanelLink href="/seller/resources">All resources</PanelLink>}>
            <Suspense fallback={<Skeleton label="Loading resources" />}>
              <ForSale resources={forSale} revenue={revenue} />
            </Suspense>
          </Panel>
        )}
      </div>
    </>
  );
}
