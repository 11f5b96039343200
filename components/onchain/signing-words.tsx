import { Copyable } from "#components/ui/copyable.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { networkName } from "#lib/chains/network-name.ts";
import type { RegistrationView } from "#lib/pages/buyer/view-on-chain.ts";
import { paymentsWords, periodWords } from "./words.ts";

export type Limits = { readonly chain: string } & Pick<
  RegistrationView,
  "account" | "payee" | "asset" | "perPayment" | "budget" | "periodSeconds" | "payments" | "start" | "end"
>;

export const LimitFacts = ({ limits }: { readonly limits: Limits }) => (
  <Pairs
    items={[
      [
        "Pays only",
        <code key="payee" className="wrap-anywhere">
          {limits.payee}
        </code>,
      ],
      [
        "Each payment",
        <span key="payment">
          at most <Money>{money(limits.perPayment, limits.asset)}</Money>
        </span>,
      ],
      [
        "Together",
        <span key="budget">
          at most <Money>{money(limits.budget, limits.asset)}</Money> and {paymentsWords(limits.payments)} {periodWords(limits)}
        </span>,
      ],
      ["From", <Moment key="start" at={limits.start} show="short" />],
      [
        "Until",
        <span key="end">
          <Moment at={limits.end} show="date" />, <Moment at={limits.end} show="time" />
        </span>,
      ],
      ["Out of", <Copyable key="account" value={limits.account} label="wallet address" />],
      [
        "Network",
        <span key="chain">
          {networkName(limits.chain)}, <code>{limits.chain}</code>
        </span>,
      ],
    ]}
  />
);

export const KeyWords = ({ path }: { readonly path: "proofs" | "module" }) => (
  <ul className="grid gap-1 text-sm">
    <li>
      <strong>What our key may do:</strong> pay this address out of the wallet, inside these limits
      {path === "proofs"
        ? ", by signing a transfer that any x402 seller settles"
        : ", by our payment contract, which counts each payment"}
      . Nothing else: no other address, no approval, no message. Your own key can always do everything.
    </li>
    <li>
      <strong>How to stop it:</strong> revoke the mandate here, and our guardian closes it on the chain as well. Without us: send{" "}
      <code>revoke</code> to the registry from the wallet, or delegate the wallet to nothing.
    </li>
  </ul>
);
