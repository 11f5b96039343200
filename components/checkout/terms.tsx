"use client";

import { useState } from "react";
import { Clamp } from "#components/ui/clamp.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";
import { Money } from "#components/ui/money.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import type { Earlier } from "./earlier-amount.ts";
import { itemName } from "./item-name.ts";
import { shortDomain } from "./names.ts";
import { KnownPayee } from "./payee.tsx";

/** Longer domains are shortened, so that they take about two lines on a phone. */
const CHARACTERS_MAX = 40;

function PayeeName({ domain, level: Heading }: { readonly domain: string; readonly level: "h1" | "h2" }) {
  const [all, setAll] = useState(false);
  const hydrated = useHydrated();
  const short = shortDomain(domain, CHARACTERS_MAX);
  return (
    <div>
      <Heading
        className={`inline tracking-normal wrap-anywhere ${short === domain ? "text-[clamp(1.375rem,1rem+2vw,2.25rem)]/[1.15]" : "text-[clamp(1.375rem,1rem+2vw,1.75rem)]/[1.15]"}`}
      >
        {all ? domain : short}
      </Heading>
      {short !== domain && (
        <button
          type="button"
          className="ml-2 min-h-6 rounded-xs text-sm font-560 whitespace-nowrap text-accent underline underline-offset-2"
          aria-expanded={all}
          disabled={!hydrated}
          onClick={() => setAll(!all)}
        >
          {all ? "Show less" : "Show all"}
          <span className="sr"> of the domain</span>
        </button>
      )}
    </div>
  );
}

function Wish({ view: { agent, lines, payee, elsewhere } }: { readonly view: CheckoutView }) {
  const [first] = lines;
  const item = first ? itemName(first, payee.domain) : null;
  const rest = lines.reduce((sum, { quantity }) => sum + quantity, 0) - (first?.quantity ?? 0);
  return (
    <>
      <strong className="font-620">
        <Untrusted>{agent.name}</Untrusted>
      </strong>
      {agent.note !== undefined && ` (${agent.note})`}{" "}
      {item === null || elsewhere ? (
        `wants to pay${elsewhere ? " elsewhere, to" : ""}`
      ) : (
        <>
          wants {first && first.quantity > 1 && `${first.quantity} × `}
          <Untrusted>{item}</Untrusted>
          {rest > 0 && ` and ${rest} more`} from
        </>
      )}
    </>
  );
}

type Props = {
  readonly view: CheckoutView;
  readonly was: Earlier | undefined;
  readonly level: "h1" | "h2";
};

/** The domain has no negative letter-spacing, because its letters must be easy to tell apart. */
export function Terms({ view, was, level }: Props) {
  const { payee, amounts } = view;
  return (
    <div className="grid grid-cols-1 gap-x-8 gap-y-2 px-4 pt-2.5 pb-2 md:grid-cols-[minmax(0,1fr)_auto] md:items-end lg:px-8 lg:pt-5 lg:pb-4">
      <div className="grid min-w-0 grid-cols-1 gap-1">
        <p className="text-sm lg:text-base">
          <Clamp of="the request">
            <Wish view={view} />
          </Clamp>
        </p>
        <PayeeName domain={payee.domain} level={level} />
        <KnownPayee payee={payee} elsewhere={view.elsewhere} />
      </div>
      <div className="md:text-right">
        <p className="sr">{was ? "New total" : "Total"}</p>
        <p className="text-[clamp(2rem,1.4rem+2.6vw,3rem)]/[1.05] font-semibold wrap-anywhere [&_.money]:whitespace-normal [&_abbr]:text-[0.5em] [&_abbr]:font-medium">
          <Money>{amounts.charged}</Money>
        </p>
        {was && (
          <p className="mt-1 text-sm text-muted">
            {was.what === "price" ? "The price was" : "Was"} <span className="line-through">{was.amount}</span> when it was shown
            to you
          </p>
        )}
      </div>
    </div>
  );
}
