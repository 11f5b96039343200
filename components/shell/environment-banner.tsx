import type { Environment } from "#lib/vocabulary.ts";

/** Marks every page of the sandbox, where no real money moves. */
export function EnvironmentBanner({ environment }: { readonly environment: Environment }) {
  if (environment !== "sandbox") return null;
  return (
    <section className="env" aria-label="Environment">
      <strong>SANDBOX</strong> – no real money
    </section>
  );
}
