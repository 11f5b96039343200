import Link from "next/link";
import { buttonClass } from "#components/ui/button-class.ts";
import { Code } from "#components/ui/code.tsx";

const request = (baseUrl: string): string => `curl ${baseUrl}/api/v1/payments/authorize \\
  -H "Authorization: Bearer $COUNTERSIGN_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{
    "mandateId": "mdt_…",
    "intent": { "amount": "0.0020", "asset": "USDC", … }
  }'`;

export const Begin = ({ baseUrl, mayCreate }: { readonly baseUrl: string; readonly mayCreate: boolean }) => (
  <>
    <section className="panel grid grid-cols-1 lg:grid-cols-[minmax(0,1fr)_minmax(0,1.1fr)]" aria-labelledby="begin">
      <div className="grid min-w-0 content-center justify-items-start gap-5 px-4 py-5 md:p-8">
        <h2 id="begin" className="text-xl tracking-heading text-balance md:text-2xl">
          No agent can pay yet. A mandate says what they may spend.
        </h2>
        <p className="text-muted">
          Set a limit, say when you want to be asked, and choose which agents may use it. You can pause or revoke it at any time.
        </p>
        {mayCreate ? (
          <div className="actions max-md:w-full max-md:*:w-full">
            <Link className={buttonClass({ tone: "primary", size: "large" })} href="/mandates/new">
              Create your first mandate
            </Link>
          </div>
        ) : (
          <p>Your role may not create mandates. Ask an owner or admin of the organization.</p>
        )}
      </div>
      <div className="min-w-0 bg-sunken px-4 py-5 max-lg:rounded-b-md max-lg:border-t md:p-8 lg:rounded-r-md lg:border-l">
        <h3>Then your agent asks like this</h3>
        <Code label="Example request" text={request(baseUrl)} />
        <p className="text-sm text-muted mt-3">
          You need a <Link href="/settings/keys">service account key</Link> for this.
        </p>
      </div>
    </section>
    <div className="grid grid-cols-1 gap-4 md:gap-6 lg:grid-cols-3">
      <section className="panel grid content-start gap-2 p-5" aria-labelledby="begin-waiting">
        <h2 id="begin-waiting">Waiting for you</h2>
        <p className="text-sm text-muted">Nothing to approve. Requests above your limits appear here.</p>
      </section>
      <section className="panel grid content-start gap-2 p-5" aria-labelledby="begin-payments">
        <h2 id="begin-payments">Payments</h2>
        <p className="text-sm text-muted">No payments yet. Each one is listed with the rules that allowed or denied it.</p>
      </section>
      <section className="panel grid content-start gap-2 p-5" aria-labelledby="begin-keys">
        <h2 id="begin-keys">Agents and keys</h2>
        <p className="text-sm text-muted">Make a service account for each agent, so that you can stop them one by one.</p>
      </section>
    </div>
  </>
);
