"use client";

import { Code, CodeTabs } from "#components/ui/code.tsx";
import { challengeText, snippets, type Coin, type ResourceOffer } from "#lib/pages/seller/snippets.ts";
import { Probe } from "./probe.tsx";

type Props = {
  readonly offered: ResourceOffer;
  readonly coin: Coin;
  readonly domain: string;
  readonly origin: string;
  readonly sellerId: string;
  /** Only a saved resource can be checked at the seller's server. */
  readonly saved: boolean;
};

export function ServerSide({ offered, coin, domain, origin, sellerId, saved }: Props) {
  return (
    <div className="stack gap-6">
      <Code
        label="What an unpaid call gets"
        text={`HTTP/1.1 402 Payment Required\nPAYMENT-REQUIRED, decoded:\n${challengeText(offered, coin, domain)}\n`}
      />
      {saved && <Probe sellerId={sellerId} offered={offered} />}
      <section className="grid grid-cols-1 gap-3" aria-labelledby="server">
        <h2 id="server">On your server</h2>
        <p className="text-sm text-muted">
          {offered.settlementMode === "facilitatorSettled"
            ? "COUNTERSIGN_API_KEY is the key of a service account with payments:settle, and for curl with resources:manage."
            : "FACILITATOR_URL is the facilitator that your server uses. For curl, COUNTERSIGN_API_KEY is the key of a service account with resources:manage."}
        </p>
        <CodeTabs label="Server" snippets={snippets(offered, coin, { origin, sellerId })} />
      </section>
    </div>
  );
}
