import { env } from "#lib/env.ts";

const explanation = {
  sandbox: "This is a sandbox: it settles with test money on a test chain.",
  production: "This is a production installation: payments here move real money.",
} as const;

export default function LandingPage() {
  const { ENVIRONMENT, CHAINS } = env();
  return (
    <main>
      <header>
        <p className="name">Countersign</p>
        <p className="environment">{ENVIRONMENT}</p>
      </header>
      <h1>May this agent make this payment?</h1>
      <p>
        Countersign answers that question for software agents. A person writes a mandate: how much, to whom, how often. An agent
        asks before it pays, and the service decides, holds the amount and records why.
      </p>
      <p>{explanation[ENVIRONMENT]}</p>
      <h2>Start here</h2>
      <ul>
        <li>
          <a href="/api/v1/openapi.json">OpenAPI document</a>: every operation, with an example of each.
        </li>
        <li>
          <a href="/api/v1/health/ready">Readiness</a>: whether the database, the chains and the queue work.
        </li>
        <li>
          The README of the source shows a first integration in 30 lines: <code>npm run demo</code> plays it from sign-up to
          settlement.
        </li>
      </ul>
      <h2>Chains</h2>
      <ul>
        {CHAINS.map(({ chain, assets }) => (
          <li key={chain}>
            <code>{chain}</code> {assets.map(({ asset }) => asset).join(", ")}
          </li>
        ))}
      </ul>
    </main>
  );
}
