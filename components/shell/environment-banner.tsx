import type { Environment } from "#lib/vocabulary.ts";

export function EnvironmentBanner({ environment }: { readonly environment: Environment }) {
  if (environment !== "sandbox") return null;
  return (
    <section
      className="border-b border-caution/26 bg-caution-wash px-4 py-1 md:py-2 text-center text-sm text-caution print:hidden"
      aria-label="Environment"
    >
      <strong className="font-650 tracking-wider">SANDBOX</strong> – no real money
    </section>
  );
}
