import Link from "next/link";
import { requireMember } from "#app/session.ts";
import { MoreSellers } from "#components/seller/more-sellers.tsx";
import { ResourceForm } from "#components/seller/resource-form.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Empty } from "#components/ui/empty.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { viewInstallation } from "#lib/pages/seller/view-resources.ts";
import { viewSellers } from "#lib/pages/seller/view-sellers.ts";

export const metadata = { title: "New resource" };

const RegisterFirst = () => (
  <section className="panel" aria-label="Seller">
    <Empty
      title="Register your seller first"
      action={
        <Link className={buttonClass({ tone: "primary" })} href="/seller/settings">
          Register seller
        </Link>
      }
    >
      A resource belongs to a seller: the name and domain under which buyers know you.
    </Empty>
  </section>
);

export default async function NewResourcePage() {
  const caller = await requireMember("/seller/resources/new");
  if (!caller.capabilities.has("resources:manage"))
    return <NotForRole title="New resource" what="this form" who="Owners, admins and developers" />;
  const { sellers, more } = await viewSellers(caller);
  const { coins, facilitators, origin } = viewInstallation();
  return (
    <>
      <PageHeader
        title="New resource"
        description="A path of your API, what a call costs, and who is paid."
        back={{ href: "/seller/resources", label: "Paid resources" }}
      />
      {more && (
        <div className="mb-5">
          <MoreSellers />
        </div>
      )}
      {sellers.length === 0 ? (
        <RegisterFirst />
      ) : (
        <ResourceForm
          sellers={sellers.map(({ sellerId, domain }) => ({ sellerId, domain }))}
          coins={coins}
          facilitators={facilitators}
          origin={origin}
        />
      )}
    </>
  );
}
