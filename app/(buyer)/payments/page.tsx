import Link from "next/link";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { requireLiveMember } from "#app/session.ts";
import { KeepFresh } from "#components/live/keep-fresh.tsx";
import { PaymentFilters } from "#components/payments/payment-filters.tsx";
import { PaymentsLedger } from "#components/payments/payments-ledger.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Code } from "#components/ui/code.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { address, one, type PageQuery } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { env } from "#lib/env.ts";
import { isNarrowed, readPaymentFilter } from "#lib/payments/payment-filter.ts";
import { viewPaymentChoices, viewPayments } from "#lib/pages/buyer/view-payments.ts";

export const metadata = { title: "Payments" };

const PATH = "/payments";
const LIMIT = 25;
const DENSE_LIMIT = 50;

const request = (baseUrl: string): string => `curl ${baseUrl}/api/v1/payments/authorize \\
  -H "Authorization: Bearer $COUNTERSIGN_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{ "mandateId": "mdt_…", "intent": { "amount": "0.25", "asset": "USDC", … } }'`;

const None = () => (
  <Empty
    title="No payments yet"
    action={
      <Link className={buttonClass({ tone: "primary" })} href="/mandates">
        Look at your mandates
      </Link>
    }
    snippet={<Code label="How an agent asks" text={request(env().BASE_URL)} />}
  >
    Each payment that an agent asks for is listed here, with the rules that allowed or denied it.
  </Empty>
);

const NoneFits = ({ further }: { readonly further: string | null }) =>
  further === null ? (
    <Empty title="No payment matches" action={<Link href={PATH}>Show all payments</Link>}>
      No payment of your organization matches all filters.
    </Empty>
  ) : (
    <Empty title="None among the newest" action={<Link href={further}>Search older payments</Link>}>
      We searched 5,000 payments and none matches all filters. Filter by a mandate, a settlement or an earlier day to find older
      ones at once.
    </Empty>
  );

function Density({ query, dense }: { readonly query: PageQuery; readonly dense: boolean }) {
  const start = { cursor: undefined, from: undefined };
  return (
    <Link className="text-sm" href={address(PATH, query, { ...start, density: dense ? undefined : "compact" })}>
      {dense ? "More space" : "Compact rows"}
    </Link>
  );
}

export default async function PaymentsPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const query = await searchParams;
  const caller = await requireLiveMember(PATH);
  if (!caller.capabilities.has("payments:read")) {
    return <NotForRole title="Payments" what="payments" who="All roles of the organization" />;
  }
  const filter = readPaymentFilter(query);
  const dense = one(query, "density") === "compact";
  const [page, choices] = await Promise.all([
    found(viewPayments(caller, filter, { cursor: one(query, "cursor"), limit: dense ? DENSE_LIMIT : LIMIT })),
    viewPaymentChoices(caller),
  ]);
  const some = page.items.length > 0;
  const narrowed = isNarrowed(filter) || one(query, "cursor") !== undefined;
  const unpaged = { cursor: undefined, from: undefined, density: undefined };
  return (
    <>
      <PageHeader
        title="Payments"
        description="What your agents asked to pay, what was decided, and how it ended."
        actions={
          some ? (
            <a className={buttonClass()} href={address(`${PATH}/export.csv`, query, unpaged)} download>
              Export CSV
            </a>
          ) : undefined
        }
      />
      <section className="panel" aria-label="Payments">
        {(some || narrowed) && <PaymentFilters path={PATH} query={query} choices={choices} />}
        {some ? (
          <>
            <PaymentsLedger rows={page.items} dense={dense} />
            <div className="panel-foot">
              <span>
                Amounts include your share of fees. Days are in UTC. <Density query={query} dense={dense} />
              </span>
              <Pager path={PATH} query={query} nextCursor={page.nextCursor} />
            </div>
          </>
        ) : narrowed ? (
          <NoneFits further={page.looksFurther ? address(PATH, query, { cursor: page.nextCursor }) : null} />
        ) : (
          <None />
        )}
      </section>
      <p className="mt-3 text-muted text-sm">
        <KeepFresh kinds={["payment"]} since={caller.since} />
      </p>
    </>
  );
}
