import { Code } from "#components/ui/code.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { env } from "#lib/env.ts";
import { mcpTools } from "#lib/pages/docs/skill-text.ts";
import { weather } from "#lib/sandbox/samples.ts";

export const metadata = { title: "MCP server" };

const settings = (baseUrl: string): string =>
  JSON.stringify(
    { mcpServers: { countersign: { type: "http", url: `${baseUrl}/mcp`, headers: { Authorization: "Bearer csk_…" } } } },
    null,
    2,
  );

const Tools = () => (
  <ul className="divide-y">
    {mcpTools.map(([name, text]) => (
      <li key={name} className="p-4 text-sm md:px-5">
        <code>{name}</code>: {text}
      </li>
    ))}
  </ul>
);

const Approval = () => (
  <div className="panel-body grid gap-2 text-sm">
    <p>
      A client of protocol 2026-07-28 that can show pages opens the approval page, and the call waits for the decision. Every
      other client gets <code>approvalRequired</code> with the link. The person signs in and decides on the page. Closing the
      question in the client does not decline the payment.
    </p>
    <p>After the approval, the same call with the same arguments continues the purchase and pays once.</p>
  </div>
);

const Repeats = () => (
  <div className="panel-body grid gap-2 text-sm">
    <p>
      The service chooses the idempotency keys. A call with the same arguments within ten minutes is the same purchase: it is
      answered with <code>repeated</code> and pays nothing again. To buy the same thing again, the agent sends a new{" "}
      <code>purchaseId</code>.
    </p>
  </div>
);

const Signing = () => (
  <div className="panel-body grid gap-2 text-sm">
    <p>
      <code>fetch_paid</code> needs a mandate that is registered on the chain for the seller’s address: then the service signs. In
      a sandbox the test wallet pays the sample sellers, such as <code>{weather.url}</code>. Otherwise the answer is{" "}
      <code>setupRequired</code>. An agent with its own wallet uses <code>authorize_payment</code> and{" "}
      <code>execute_payment</code>.
    </p>
    <p>
      What the agent pays by other means, such as an invoice by transfer, is authorized with{" "}
      <code>paymentChallengeType: record</code> and recorded with <code>record_payment</code>. Nobody signs, and this service pays
      nothing.
    </p>
    <p>
      Instructions for agents are at <a href="/SKILL.md">/SKILL.md</a>.
    </p>
  </div>
);

export default function McpPage() {
  const { BASE_URL } = env();
  return (
    <>
      <PageHeader title="MCP server" description="Agents in MCP clients pay with these tools, within their mandates." />
      <div className="stack">
        <Panel
          id="connect"
          title="Connect a client"
          about="The client uses Streamable HTTP and needs only the address. It registers itself, or names its metadata document, and signs in by OAuth: a person decides on a page. A client without OAuth sends the key of a service account as a bearer token."
        >
          <div className="panel-body grid grid-cols-1 gap-5">
            <Code label="The address" text={`${BASE_URL}/mcp`} />
            <Code label="The settings of a client with a key" text={settings(BASE_URL)} />
          </div>
        </Panel>
        <Panel
          id="tools"
          title="Tools"
          about="Each tool calls operations of the API, with the same rights, limits and audit events. No tool approves a payment, raises a limit or revokes anything."
        >
          <Tools />
        </Panel>
        <Panel id="approval" title="When a person must approve">
          <Approval />
        </Panel>
        <Panel id="repeats" title="Repeats">
          <Repeats />
        </Panel>
        <Panel id="signing" title="Who signs">
          <Signing />
        </Panel>
      </div>
    </>
  );
}
