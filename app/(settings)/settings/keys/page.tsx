import Link from "next/link";
import { requireMember } from "#app/session.ts";
import type { SearchParams } from "#app/search-params.ts";
import { AccountsLedger } from "#components/keys/accounts-ledger.tsx";
import { KeyRules } from "#components/keys/key-rules.tsx";
import { NewServiceAccount } from "#components/keys/new-service-account.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { NoAccess } from "#components/ui/no-access.tsx";
import { one } from "#components/ui/page-query.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { keyCapabilitiesOf } from "#lib/identity/capabilities.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { viewServiceAccounts } from "#lib/pages/settings/view-service-accounts.ts";

export const metadata = { title: "Agents and keys" };

const PATH = "/settings/keys";

const NoAccounts = ({ manages }: { readonly manages: boolean }) => (
  <Empty title="No service accounts yet">
    {manages
      ? "Each agent or program gets an account of its own, with a key and only the capabilities that it needs."
      : "An owner, admin or developer of the organization makes one for each agent."}
  </Empty>
);

export default async function KeysPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const caller = await requireMember(PATH);
  const title = "Agents and keys";
  if (!caller.capabilities.has("serviceAccounts:read")) {
    return (
      <>
        <PageHeader title={title} />
        <NoAccess title="Your role does not show keys">
          Owners, admins, developers and viewers see them. Ask an owner or admin for another role.
        </NoAccess>
      </>
    );
  }
  const query = await searchParams;
  const revoked = one(query, "show") === "revoked";
  const view = await viewServiceAccounts(caller, { revoked, cursor: one(query, "cursor") });
  const manages = caller.capabilities.has("serviceAccounts:manage");
  const { productRoles } = await viewSession(caller.sessionId);
  const writes = productRoles.includes("buyer") && caller.capabilities.has("mandates:create");
  const creates = manages && (
    <NewServiceAccount
      organizationId={caller.organizationId}
      grantable={[...keyCapabilitiesOf([...caller.capabilities])]}
      next={writes ? { label: "Next: write a mandate", href: "/mandates/new" } : undefined}
    />
  );
  const other = revoked
    ? { href: PATH, text: `Show ${view.live} live` }
    : { href: `${PATH}?show=revoked`, text: `Show ${view.revoked} revoked` };
  return (
    <>
      <PageHeader
        title={title}
        description="One service account per agent. Each holds a key and only what you allow it."
        actions={creates}
      />
      <div className="stack">
        <Panel
          id="accounts"
          title={revoked ? "Revoked service accounts" : "Service accounts"}
          note={revoked ? view.revoked : view.live}
        >
          {view.items.length > 0 ? (
            <AccountsLedger
              accounts={view.items}
              held={caller.capabilities}
              caption={revoked ? "Revoked service accounts" : "Service accounts"}
            />
          ) : (
            <NoAccounts manages={manages} />
          )}
          <div className="panel-foot">
            <span>The full key is shown once, when you create it.</span>
            {(revoked || view.revoked > 0) && <Link href={other.href}>{other.text}</Link>}
            <Pager path={PATH} query={query} nextCursor={view.nextCursor} />
          </div>
        </Panel>
        <KeyRules />
      </div>
    </>
  );
}
