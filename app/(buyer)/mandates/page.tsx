import Link from "next/link";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { requireMember } from "#app/session.ts";
import { assetOf } from "#components/mandates/headline.ts";
import { MandateUsage } from "#components/mandates/usage.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Empty } from "#components/ui/empty.tsx";
import { Filters, FilterSearch, FilterSelect } from "#components/ui/filters.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { StatusBadge, statusWord } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { viewMandates } from "#lib/pages/buyer/view-mandates.ts";
import { MandateStatus } from "#lib/vocabulary.ts";

export const metadata = { title: "Mandates" };

const PATH = "/mandates";
const LIMIT = 20;

const columns = [
  { name: "Mandate", cell: ({ name }: Mandate) => <Untrusted>{name}</Untrusted> },
  { name: "State", cell: ({ status }: Mandate) => <StatusBadge of="mandate" status={status} /> },
  {
    name: "Used",
    cell: (mandate: Mandate) => (
      <div className="min-w-44 flex-1">
        <MandateUsage mandate={mandate} />
      </div>
    ),
  },
  {
    name: "A payment",
    numeric: true,
    cell: (mandate: Mandate) => <Money>{money(mandate.policy.limits.perPayment, assetOf(mandate))}</Money>,
  },
  { name: "Changed", cell: ({ updatedAt }: Mandate) => <Moment at={updatedAt} show="short" /> },
];

const NewMandate = () => (
  <Link className={buttonClass({ tone: "primary" })} href="/mandates/new">
    New mandate
  </Link>
);

const None = ({ mayCreate, narrowed }: { readonly mayCreate: boolean; readonly narrowed: boolean }) =>
  narrowed ? (
    <Empty title="No mandate matches" action={<Link href={PATH}>Show all mandates</Link>}>
      No mandate has this state and this name.
    </Empty>
  ) : (
    <Empty title="No mandates yet" action={mayCreate ? <NewMandate /> : undefined}>
      A mandate says what agents may spend, where, and when a person is asked. Without one, no agent can pay.
    </Empty>
  );

export default async function MandatesPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const query = await searchParams;
  const caller = await requireMember(PATH);
  if (!caller.capabilities.has("mandates:read")) {
    return <NotForRole title="Mandates" what="mandates" who="Owners, admins, approvers, developers and viewers" />;
  }
  const [search, cursor] = [one(query, "q"), one(query, "cursor")];
  const status = MandateStatus.safeParse(one(query, "status")).data;
  const page = await found(viewMandates(caller, { limit: LIMIT, cursor, search, status }));
  const narrowed = search !== undefined || status !== undefined;
  const mayCreate = caller.capabilities.has("mandates:create");
  const some = page.items.length > 0;
  return (
    <>
      <PageHeader
        title="Mandates"
        description="What agents may spend, and what is left of it."
        actions={mayCreate && (some || narrowed) ? <NewMandate /> : undefined}
      />
      <section className="panel" aria-labelledby="all-mandates">
        <h2 className="sr" id="all-mandates">
          All mandates
        </h2>
        {(some || narrowed) && (
          <Filters label="Mandates" path={PATH}>
            <FilterSearch label="Search mandates" name="q" value={search} placeholder="Name or id" />
            <FilterSelect
              label="State"
              name="status"
              value={status}
              any="Any state"
              options={MandateStatus.options.map((option) => [option, statusWord("mandate", option)])}
            />
          </Filters>
        )}
        {some ? (
          <>
            <Ledger
              caption="Mandates"
              columns={columns}
              rows={page.items}
              rowKey={(row) => row.mandateId}
              href={(row) => `${PATH}/${row.mandateId}`}
            />
            <div className="panel-foot">
              <span>The bar shows the limit that runs out first.</span>
              <Pager path={PATH} query={query} nextCursor={page.nextCursor} />
            </div>
          </>
        ) : (
          <None mayCreate={mayCreate} narrowed={narrowed} />
        )}
      </section>
    </>
  );
}
