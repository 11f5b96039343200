import { requireOfficial } from "#app/admin/official.ts";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { SubscriptionForm } from "#components/platform/subscription-form.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { Pager } from "#components/ui/pager.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { viewSubscriptions } from "#lib/pages/admin/view-directory.ts";

export const metadata = { title: "Subscriptions" };

const PATH = "/admin/subscriptions";

export default async function SubscriptionsPage({ searchParams }: { readonly searchParams: SearchParams }) {
  await requireOfficial(PATH, "platform.subscriptions.manage");
  const query = await searchParams;
  const { items, nextCursor } = await found(viewSubscriptions({ cursor: one(query, "cursor") }));
  return (
    <>
      <PageHeader
        title="Subscriptions"
        description="The plan of each organization. Fee schedules may name a plan."
        actions={<SubscriptionForm />}
      />
      <section className="panel" aria-label="Subscriptions">
        {items.length > 0 ? (
          <Ledger
            caption="Subscriptions"
            rows={items}
            rowKey={({ organizationId }) => organizationId}
            columns={[
              {
                name: "Organization",
                cell: ({ organizationName }) => <Untrusted>{organizationName}</Untrusted>,
              },
              { name: "Id", cell: ({ organizationId }) => <Copyable value={organizationId} label="organization id" head={8} /> },
              { name: "Plan", cell: ({ tier }) => tier },
              { name: "Period ends", cell: ({ currentPeriodEnd }) => <Moment at={currentPeriodEnd} show="date" /> },
              { name: "Status", cell: ({ status }) => <StatusBadge of="subscription" status={status} /> },
              { name: "Actions", actions: true, cell: (row) => <SubscriptionForm subscription={row} /> },
            ]}
          />
        ) : (
          <Empty title="No plans yet">An organization without a plan pays what the schedules for everyone charge.</Empty>
        )}
        <Pager path={PATH} query={query} nextCursor={nextCursor} />
      </section>
    </>
  );
}
