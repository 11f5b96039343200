import Link from "next/link";
import { found } from "#app/found.ts";
import { requireMember } from "#app/session.ts";
import { LogoForm } from "#components/organization/logo-form.tsx";
import { SettingsForm } from "#components/organization/settings-form.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { viewOrganization } from "#lib/pages/settings/view-organization.ts";

export const metadata = { title: "Organization settings" };

export default async function OrganizationPage() {
  const caller = await requireMember("/settings/organization");
  if (!caller.capabilities.has("members:manage")) {
    return <NotForRole title="Organization settings" what="the settings of the organization" who="Owners and admins" />;
  }
  const { organizationId } = caller;
  const [view, session] = await Promise.all([found(viewOrganization(organizationId)), viewSession(caller.sessionId)]);
  return (
    <>
      <PageHeader title="Organization settings" description="Each change is in the audit log with your name." />
      <div className="stack">
        <Panel id="general" title="Name and defaults">
          <div className="panel-body">
            <SettingsForm organizationId={organizationId} {...view} />
          </div>
        </Panel>
        <Panel id="logo" title="Logo">
          <div className="panel-body">
            <LogoForm organizationId={organizationId} logo={session.activeOrganization?.logo ?? null} />
          </div>
        </Panel>
        <Panel id="fixed" title="Fixed values">
          <div className="panel-body">
            <Pairs
              items={[
                ["Short name", <code key="slug">{view.slug}</code>],
                ["Organization id", <code key="id">{organizationId}</code>],
              ]}
            />
            <p className="mt-3 text-sm text-muted">
              The page <Link href="/settings/members">Members</Link> sets the amounts above which an approval asks for the
              password.
            </p>
          </div>
        </Panel>
      </div>
    </>
  );
}
