import type { Environment } from "#lib/vocabulary.ts";

/** Says on every page where money is only played with. */
export function EnvironmentBanner({ environment }: { readonly environment: Environment }) {
  if (environment !== "sandbox") return null;
  return (
    <section className="env" aria-label="Environment">
      <strong>SANDBOX</strong> – no real money
    </section>
  );
}
