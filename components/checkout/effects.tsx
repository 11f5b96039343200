import type { CheckoutIntent } from "#lib/approvals/checkout-schema.ts";

const settlements: Readonly<Record<CheckoutIntent["effects"]["settlement"], string>> = {
  none: "None yet",
  authorized: "Authorized",
  settled: "Settled",
};

/** The effects of an approval, shown before the person approves. */
export function Effects({ intent: { effects, environment } }: { readonly intent: CheckoutIntent }) {
  const sandbox = environment === "sandbox";
  const rows = [
    ["Moves funds", !effects.movesFunds ? "No" : sandbox ? "Test money only" : "When the agent continues"],
    ["Creates a fulfilment order", effects.createsFulfillmentOrder ? "Yes, at the seller" : "No"],
    ["Settlement", settlements[effects.settlement]],
    ["Agent may continue", "Once, within 10 min"],
  ] as const;
  return (
    <section className="clause" aria-labelledby="effects">
      <h2 id="effects">What approving does</h2>
      <ul className="grid grid-cols-1 gap-2 text-sm md:grid-cols-[repeat(4,auto)] md:justify-between md:gap-x-6 md:gap-y-4">
        {rows.map(([name, value]) => (
          <li
            key={name}
            className="grid max-md:grid-cols-[1fr_auto] max-md:gap-4 max-md:not-first:border-t max-md:not-first:pt-2"
          >
            <span className="text-muted">{name}</span>
            <strong className="font-560">{value}</strong>
          </li>
        ))}
      </ul>
    </section>
  );
}
