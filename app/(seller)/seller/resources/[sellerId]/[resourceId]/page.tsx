import { found } from "#app/found.ts";
import { requireMember } from "#app/session.ts";
import { ArchiveResource, RestoreResource } from "#components/seller/archive-resource.tsx";
import { PayeePanel } from "#components/seller/payee-panel.tsx";
import { Price } from "#components/seller/price.tsx";
import { ResourceForm } from "#components/seller/resource-form.tsx";
import { isPayable, resourcePath } from "#components/seller/words.ts";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { viewInstallation, viewResource, type ResourceView } from "#lib/pages/seller/view-resources.ts";

export const metadata = { title: "Resource" };

type Params = Promise<{ readonly sellerId: string; readonly resourceId: string }>;

const Facts = ({ view: { resource, seller } }: { readonly view: ResourceView }) => (
  <section className="panel panel-body" aria-label="Resource">
    <Pairs
      items={[
        ["Seller", <Untrusted key="seller">{`${seller.name}, ${seller.domain}`}</Untrusted>],
        ["Price", <Price key="price" pricing={resource.pricing} />],
        ["Description", resource.description === undefined ? "None" : <Untrusted key="text">{resource.description}</Untrusted>],
        [
          "Paid to",
          resource.paymentConfig ? (
            <Copyable key="to" value={resource.paymentConfig.payTo} label="address that is paid" />
          ) : (
            "Not set"
          ),
        ],
      ]}
    />
  </section>
);

export default async function ResourcePage({ params }: { readonly params: Params }) {
  const { sellerId, resourceId } = await params;
  const [seller, id] = [decodeURIComponent(sellerId), decodeURIComponent(resourceId)];
  const caller = await requireMember(resourcePath({ sellerId: seller, resourceId: id }));
  if (!caller.capabilities.has("sellers:read"))
    return <NotForRole title="Resource" what="resources" who="Owners, admins, developers and viewers" />;
  const view = await found(viewResource(caller, seller, id));
  const { resource, archived } = view;
  const mayManage = caller.capabilities.has("resources:manage");
  const { coins, facilitators, origin } = viewInstallation();
  const state = archived ? "archived" : isPayable(resource) ? "live" : "unpayable";
  return (
    <>
      <PageHeader
        title={`${resource.method} ${resource.pathTemplate}`}
        description={
          <>
            <StatusBadge of="resource" status={state} /> <Copyable value={resource.resourceId} label="resource id" head={40} />
          </>
        }
        back={{ href: archived ? "/seller/resources?show=archived" : "/seller/resources", label: "Paid resources" }}
        actions={
          mayManage &&
          (archived ? <RestoreResource resource={resource} /> : <ArchiveResource sellerId={seller} resourceId={id} />)
        }
      />
      {!archived && <PayeePanel resource={resource} seller={view.seller} mayManage={mayManage} />}
      {mayManage && !archived ? (
        <ResourceForm
          key={JSON.stringify(resource)}
          sellers={[view.seller]}
          coins={coins}
          facilitators={facilitators}
          origin={origin}
          resource={resource}
        />
      ) : (
        <Facts view={view} />
      )}
    </>
  );
}
