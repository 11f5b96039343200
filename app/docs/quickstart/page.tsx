import { ReadersFirstRequest } from "#app/first-request.tsx";
import { readCaller } from "#app/session.ts";
import { Prose } from "#components/docs/prose.tsx";
import { Code } from "#components/ui/code.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { env } from "#lib/env.ts";
import { firstAgentIn } from "#lib/pages/docs/quickstart.ts";
import firstAgent from "../../../docs/start/first-agent.md";

export const metadata = { title: "Quickstart" };

const { program, command, uses } = firstAgentIn(firstAgent);

function WithPackage() {
  return (
    <Panel
      id="package"
      title="An agent that pays"
      about={
        <>
          With the package countersign. <code>pay.fetch</code> asks, signs and pays; a repeat with the same operation pays once.
          If the seller is not registered here, the mandate must allow unregistered sellers.
        </>
      }
    >
      <div className="panel-body grid grid-cols-1 gap-4">
        <Code label="agent.mjs" text={program} />
        <Code label="Run it" text={command.replace("$API", env().BASE_URL)} />
        <p className="text-sm text-muted">The files named here are in the folder examples of the repository.</p>
        <ul className="grid gap-2 text-sm">
          {uses.map(([purpose, use]) => (
            <li key={purpose}>
              <strong>
                <Prose text={purpose} />
              </strong>
              : <Prose text={use} />
            </li>
          ))}
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
