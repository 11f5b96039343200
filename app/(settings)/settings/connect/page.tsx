import Link from "next/link";
import { requireMember } from "#app/session.ts";
import { clientCommands } from "#components/connect/client-commands.ts";
import { EndConnection, RemoveClient } from "#components/connect/end-dialog.tsx";
import { NewClient } from "#components/connect/new-client.tsx";
import { mayText } from "#components/keys/capability-words.ts";
import { Code, CodeTabs } from "#components/ui/code.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { NoAccess } from "#components/ui/no-access.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { AgentClient, Connection } from "#lib/identity/oauth/contract.ts";
import { viewConnections } from "#lib/pages/settings/view-connect.ts";

export const metadata = { title: "Connect an agent" };

const PATH = "/settings/connect";

const Connected = ({ items, manages }: { readonly items: readonly Connection[]; readonly manages: boolean }) => (
  <Panel id="connected" title="Connected" note={items.length}>
    {items.length === 0 ? (
      <Empty title="No program is connected">
        Add the address to a program, then sign in there. The program opens a page where you decide.
      </Empty>
    ) : (
      <Ledger
        caption="Connected programs"
        rows={items}
        rowKey={({ connectionId }) => connectionId}
        columns={[
          { name: "Program", cell: ({ clientName }) => <Untrusted>{clientName}</Untrusted> },
          {
            name: "Acts as",
            cell: ({ serviceAccountId, serviceAccountName }) => (
              <Link href={`/settings/keys/${serviceAccountId}`}>
                <Untrusted>{serviceAccountName}</Untrusted>
              </Link>
            ),
          },
          { name: "May", cell: ({ capabilities }) => mayText(capabilities) },
          {
            name: "Connected",
            cell: ({ connectedAt, connectedByName }) => (
              <span>
                <Moment at={connectedAt} show="short" /> by <Untrusted>{connectedByName}</Untrusted>
              </span>
            ),
          },
          {
            name: "Last used",
            cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? "Never" : <Moment at={lastUsedAt} show="ago" />),
          },
          {
            name: "End",
            actions: true,
            cell: ({ connectionId, clientName }) => manages && <EndConnection connectionId={connectionId} name={clientName} />,
          },
        ]}
      />
    )}
    <div className="panel-foot">
      A connection ends at once, in every process. It also ends when the person who allowed it leaves the organization.
    </div>
  </Panel>
);

const Programs = ({ items, manages }: { readonly items: readonly AgentClient[]; readonly manages: boolean }) => (
  <Panel id="programs" title="Registered programs" note={items.length}>
    {items.length === 0 ? (
      <Empty title="No program is registered">
        {manages
          ? "Most programs need no registration. One that asks for a client id does."
          : "An owner, admin or developer can register programs."}
      </Empty>
    ) : (
      <Ledger
        caption="Registered programs"
        rows={items}
        rowKey={({ clientId }) => clientId}
        columns={[
          { name: "Program", cell: ({ name }) => <Untrusted>{name}</Untrusted> },
          { name: "Client id", cell: ({ clientId }) => <Copyable value={clientId} label="client id" /> },
          {
            name: "Redirects to",
            cell: ({ redirectUris }) => (
              <ul className="md:min-w-64">
                {redirectUris.map((uri) => (
                  <li key={uri} className="mono text-xs wrap-anywhere">
                    {uri}
                  </li>
                ))}
              </ul>
            ),
          },
          {
            name: "Remove",
            actions: true,
            cell: ({ clientId, name }) => manages && <RemoveClient clientId={clientId} name={name} />,
          },
        ]}
      />
    )}
    <div className="panel-foot">
      <span>
        The command line needs no registration: <code>npx countersign login</code>
      </span>
    </div>
  </Panel>
);

export default async function ConnectAgentPage() {
  const caller = await requireMember(PATH);
  const title = "Connect an agent";
  if (!caller.capabilities.has("serviceAccounts:read")) {
    return (
      <>
        <PageHeader title={title} />
        <NoAccess title="Your role does not show connections">
          Owners, admins, developers and viewers see them. Ask an owner or admin for another role.
        </NoAccess>
      </>
    );
  }
  const { address, clients, connections } = await viewConnections(caller);
  const manages = caller.capabilities.has("serviceAccounts:manage");
  return (
    <>
      <PageHeader
        title={title}
        description="Agents in MCP clients pay within your mandates. Give them this address."
        actions={manages && <NewClient />}
      />
      <div className="stack">
        <Panel id="address" title="Address">
          <div className="panel-body grid grid-cols-1 gap-5">
            <Code label="MCP address" text={address} />
            <CodeTabs label="Program" snippets={clientCommands(address)} />
          </div>
          <div className="panel-foot">
            The program registers itself and opens a page where you decide. If it cannot register itself, register it here and
            enter the client id in its settings.
          </div>
        </Panel>
        <Connected items={connections} manages={manages} />
        <Programs items={clients} manages={manages} />
      </div>
    </>
  );
}
