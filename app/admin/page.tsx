import Link from "next/link";
import { requireOfficial } from "#app/admin/official.ts";
import { AuditLedger } from "#components/platform/audit-ledger.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Panel, PanelLink } from "#components/ui/panel.tsx";
import { viewOverview, type OverviewView } from "#lib/pages/admin/view-overview.ts";
import { PlatformCapability } from "#lib/vocabulary.ts";

export const metadata = { title: "Platform" };

const figures = new Intl.NumberFormat("en-GB");

type Fact = { readonly text: string; readonly value: string; readonly href: string };

function factsOf({ toVerify, unknown, underWay, failingWorkers, chains }: OverviewView): Fact[] {
  return [
    toVerify !== null && { text: "Sellers to verify", value: toVerify, href: "/admin/sellers" },
    unknown !== null && { text: "Executions with an unknown outcome", value: figures.format(unknown), href: "/admin/health" },
    underWay !== null && { text: "Executions under way", value: figures.format(underWay), href: "/admin/health" },
    failingWorkers !== null && { text: "Workers that fail", value: figures.format(failingWorkers), href: "/admin/health" },
    chains && {
      text: `Audit events in ${figures.format(chains.chains)} chains`,
      value: figures.format(chains.events),
      href: "/admin/audit",
    },
  ].filter((fact) => fact !== false && fact !== null);
}

export default async function OverviewPage() {
  const caller = await requireOfficial("/admin", ...PlatformCapability.options);
  const view = await viewOverview(caller);
  const facts = factsOf(view);
  return (
    <>
      <PageHeader title="Platform" description="Open work, and the latest events." />
      <div className="stack">
        <Panel id="waits" title="At a glance">
          {facts.length > 0 ? (
            <div className="panel-body">
              <ul className="impact">
                {facts.map(({ text, value, href }) => (
                  <li key={text}>
                    <Link href={href}>{text}</Link>
                    <strong>{value}</strong>
                  </li>
                ))}
              </ul>
            </div>
          ) : (
            <Empty title="Nothing waits for your role" action={<Link href="/admin/users">Users</Link>}>
              Your role manages people.
            </Empty>
          )}
        </Panel>
        {view.events && (
          <Panel id="happened" title="Done by the platform" aside={<PanelLink href="/admin/audit">Audit chains</PanelLink>}>
            {view.events.length > 0 ? (
              <AuditLedger events={view.events} />
            ) : (
              <Empty title="Nothing yet">Changes of roles, bans and emergencies are listed here, each with its reason.</Empty>
            )}
          </Panel>
        )}
      </div>
    </>
  );
}
