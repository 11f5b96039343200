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
import { viewDueSellerFees } from "#lib/pages/seller/view-seller-fees.ts";
import { readReceived } from "#lib/settlement/list-settlements.ts";
import { viewResources } from "#lib/pages/seller/view-resources.ts";
import { viewRevenue } from "#lib/pages/seller/view-revenue.ts";
import { viewSellers } from "#lib/pages/seller/view-sellers.ts";

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

export default async function SellerPage() {
  const caller = await requireMember(PATH);
  const { received, due, sellers, resources } = await view(caller);
  if (received === null && resources === null)
    return <NotForRole title="Selling" what="sales" who="Owners, admins, developers, finance and viewers" />;

  const paid = (received?.items.length ?? 0) > 0;
  const revenue = paid ? await viewRevenue(caller) : [];
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
        {revenue.map((one) => (
          <RevenuePanel key={`${one.chain} ${one.asset}`} revenue={one} due={due} />
        ))}
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
            <ResourcesLedger resources={forSale} archived={false} revenue={revenue[0] ?? null} />
          </Panel>
        )}
      </div>
    </>
  );
}
