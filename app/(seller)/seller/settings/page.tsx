import { requireMember } from "#app/session.ts";
import { RegisterAnother, RegisterSellerForm } from "#components/seller/register-seller.tsx";
import { VerifyDomain } from "#components/seller/verify-domain.tsx";
import { MoreSellers } from "#components/seller/more-sellers.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { viewSellers, type OwnSeller } from "#lib/pages/seller/view-sellers.ts";

export const metadata = { title: "Domain and seller" };

const PATH = "/seller/settings";

const confirmations: Readonly<Record<string, string>> = {
  softwareApproved: "Signed-in session",
  passkeyApproved: "Passkey",
  walletApproved: "Wallet",
  hardwareApproved: "Hardware key",
};

function SellerPanel({ seller, mayManage }: { readonly seller: OwnSeller; readonly mayManage: boolean }) {
  const { sellerId, name, domain, verified, minimumAssuranceLevel } = seller;
  return (
    <Panel
      id={sellerId}
      title={<Untrusted>{name}</Untrusted>}
      aside={<StatusBadge of="seller" status={verified ? "verified" : "unverified"} />}
    >
      <div className="panel-body grid grid-cols-1 gap-5">
        <Pairs
          items={[
            ["Domain", <code key="domain">{domain}</code>],
            ["Seller id", <Copyable key="id" value={sellerId} label="seller id" head={8} />],
            ["Buyers confirm with", confirmations[minimumAssuranceLevel] ?? minimumAssuranceLevel],
          ]}
        />
        {!verified && !mayManage && <p className="text-sm text-muted">An owner, admin or developer proves the domain.</p>}
        {!verified && mayManage && <VerifyDomain seller={seller} />}
      </div>
    </Panel>
  );
}

export default async function SellerSettingsPage() {
  const caller = await requireMember(PATH);
  if (!caller.capabilities.has("sellers:read"))
    return <NotForRole title="Domain and seller" what="sellers" who="Owners, admins, developers and viewers" />;
  const { sellers, more } = await viewSellers(caller);
  const mayManage = caller.capabilities.has("sellers:manage");
  return (
    <>
      <PageHeader
        title="Domain and seller"
        description="Your sellers and their domains. A proved domain makes you a verified seller, and nobody else can take it."
        actions={mayManage && sellers.length > 0 ? <RegisterAnother /> : undefined}
      />
      <div className="stack">
        {sellers.map((seller) => (
          <SellerPanel key={seller.sellerId} seller={seller} mayManage={mayManage} />
        ))}
        {more && <MoreSellers />}
        {sellers.length === 0 && mayManage && (
          <Panel id="register" title="Register your seller">
            <div className="panel-body">
              <RegisterSellerForm />
            </div>
          </Panel>
        )}
        {sellers.length === 0 && !mayManage && (
          <section className="panel" aria-label="Sellers">
            <Empty title="No seller yet">An owner, admin or developer registers the seller and proves its domain.</Empty>
          </section>
        )}
      </div>
    </>
  );
}
