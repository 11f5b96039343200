import Link from "next/link";
import type { SearchParams } from "#app/search-params.ts";
import { requireMember } from "#app/session.ts";
import { planTogether, TOGETHER_MAX } from "#components/approvals/together.ts";
import { TogetherSheet } from "#components/approvals/together-sheet.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { all } from "#components/ui/page-query.ts";
import { Id } from "#lib/ids.ts";
import { viewTogether } from "#lib/pages/buyer/view-together.ts";

export const metadata = { title: "Approve together" };

const PATH = "/approvals";

export default async function TogetherPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const query = await searchParams;
  const caller = await requireMember(PATH);
  if (!caller.capabilities.has("checkouts:approve")) {
    return <NotForRole title="Approve together" what="payments that wait" who="Owners, admins and approvers" />;
  }
  const ids = [...new Set(all(query, "id").flatMap((id) => Id.safeParse(id).data ?? []))];
  // Read one request more than a person may approve together, so that the page can say that there are too many.
  const views = await viewTogether(ids.slice(0, TOGETHER_MAX + 1), caller);
  return (
    <>
      <PageHeader
        back={{ href: PATH, label: "Approvals" }}
        title="Approve together"
        description={`At most ${TOGETHER_MAX} requests, with one proof of identity. Read each; every one becomes an approval of its own.`}
      />
      {views.length > 0 ? (
        <TogetherSheet plan={planTogether(views)} path={`${PATH}/together?${new URLSearchParams(ids.map((id) => ["id", id]))}`} />
      ) : (
        <section className="panel" aria-label="Requests">
          <Empty title="No request is chosen" action={<Link href={PATH}>Choose requests</Link>}>
            Choose two or more requests in the list of approvals.
          </Empty>
        </section>
      )}
    </>
  );
}
