import { ReadersFirstRequest } from "#app/first-request.tsx";
import { readCaller } from "#app/session.ts";
import { Code } from "#components/ui/code.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { env } from "#lib/env.ts";
import { packageText } from "#lib/pages/docs/quickstart.ts";

export const metadata = { title: "Quickstart" };

function WithPackage() {
  return (
    <Panel
      id="package"
      title="An agent that pays"
      about={
        <>
          With the package countersign. <code>pay.fetch</code> asks, signs and pays; a repeat with the same operation pays once.
          Node.js 22.18 or newer runs the file as it is. If the seller is not registered here, the mandate must allow unregistered
          sellers.
        </>
      }
    >
      <div className="panel-body grid grid-cols-1 gap-4">
        <Code label="agent.mjs" text={packageText(env().BASE_URL)} />
        <ul className="grid gap-2 text-sm">
          <li>
            Events of your organization: <code>verifyWebhook</code> checks each message, and{" "}
            <code>npx countersign listen 3000</code> brings them to your machine.
          </li>
          <li>
            <code>countersign/mcp</code>, <code>countersign/ai</code> and <code>countersign/x402</code> pay in MCP clients, in the
            Vercel AI SDK and in <code>@x402/fetch</code>.
          </li>
          <li>
            On the command line: <code>npx countersign login</code>, <code>pay</code>, <code>budget</code> and <code>mcp</code>.
          </li>
        </ul>
      </div>
    </Panel>
  );
}

export default async function QuickstartPage() {
  const caller = await readCaller();
  return (
    <>
      <PageHeader title="Quickstart" description="From the package to a payment, and from a mandate to a decision." />
      <div className="stack">
        <WithPackage />
        <Panel id="steps" title="Three steps">
          <ol className="timeline panel-body">
            <li>
              <h3>Write a mandate</h3>
              <p>
                It says how much an agent may pay, to whom, and when you are asked.{" "}
                {caller ? <a href="/mandates/new">New mandate</a> : <a href="/sign-up">Create an account</a>}
              </p>
            </li>
            <li>
              <h3>Create a key</h3>
              <p>
                Each agent has a service account of its own, and its key is shown once.{" "}
                {caller && <a href="/settings/keys">Agents and keys</a>}
              </p>
            </li>
            <li>
              <h3>Ask before you pay</h3>
              <p>
                The agent meets a seller’s 402, asks, and gets an answer with every reason. When it is allowed,{" "}
                <a href="/docs/executePayment">executePayment</a> takes the signed credential.
              </p>
            </li>
          </ol>
        </Panel>
        <ReadersFirstRequest caller={caller} />
        <Panel id="next" title="What next">
          <ul className="panel-body grid gap-2 text-sm">
            <li>
              <a href="/docs/executePayment">executePayment</a>: send the signed credential, and pay.
            </li>
            <li>
              <a href="/docs/placeOrder">placeOrder</a>: buy a basket at a storefront, with a person’s approval above your limits.
            </li>
            <li>
              <a href="/docs/upsertPaidResource">upsertPaidResource</a>: put a price on your own API.
            </li>
          </ul>
        </Panel>
      </div>
    </>
  );
}
