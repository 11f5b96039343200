import { redirect } from "next/navigation";
import { DocumentPage } from "#components/shell/document-page.tsx";
import { homeOf } from "#components/shell/navigation.ts";
import { Sheet } from "#components/shell/sheet.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { env } from "#lib/env.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { readCaller } from "./session.ts";

const explanation = {
  sandbox: "This is a sandbox: it settles with test money on a test chain.",
  production: "This is a production installation: payments here move real money.",
} as const;

export default async function LandingPage() {
  const { ENVIRONMENT, CHAINS } = env();
  const caller = await readCaller();
  if (caller) redirect(homeOf(await viewSession(caller.sessionId)));
  return (
    <DocumentPage environment={ENVIRONMENT} narrow aside={<a href="/sign-in">Sign in</a>}>
      <Sheet>
        <div className="lapsed">
          <h1>May this agent make this payment?</h1>
          <p>
            Countersign answers that question for software agents. A person writes a mandate: how much, to whom, how often. An
            agent asks before it pays, and the service decides, holds the amount and records why.
          </p>
          <p>{explanation[ENVIRONMENT]}</p>
          <div className="actions">
            <a className={buttonClass({ tone: "primary" })} href="/sign-up">
              Create an account
            </a>
            <a className={buttonClass()} href="/sign-in">
              Sign in
            </a>
          </div>
        </div>
        <div className="record grid gap-6">
          <section aria-labelledby="start">
            <h2 id="start">Start here</h2>
            <ul className="grid gap-2 text-sm">
              <li>
                <a href="/docs/quickstart">Quickstart</a>: the first authorization with curl, TypeScript and Python.
              </li>
              <li>
                <a href="/docs">API reference</a>: every operation, with requests to try. Programs read the{" "}
                <a href="/api/v1/openapi.json">OpenAPI document</a> and <a href="/llms.txt">llms.txt</a>.
              </li>
              <li>
                <a href="/verify">Verify a receipt</a>: what a receipt proves, checked in your browser.
              </li>
              <li>
                <a href="/api/v1/health/ready">Readiness</a>: whether the database, the chains and the queue work.
              </li>
              <li>
                The folder <code>docs/start</code> of the source shows a first integration in a few lines, and{" "}
                <code>npm run demo</code> runs one from sign-up to settlement.
              </li>
            </ul>
          </section>
          <section aria-labelledby="chains">
            <h2 id="chains">Chains</h2>
            <ul className="grid gap-2 text-sm">
              {CHAINS.map(({ chain, assets }) => (
                <li key={chain}>
                  <code>{chain}</code> {assets.map(({ asset }) => asset).join(", ")}
                </li>
              ))}
            </ul>
          </section>
        </div>
      </Sheet>
    </DocumentPage>
  );
}
