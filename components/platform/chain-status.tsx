"use client";

import { Link2 } from "lucide-react";
import { buttonClass } from "#components/ui/button-class.ts";
import { Button } from "#components/ui/button.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import type * as contract from "#lib/platform/contract.ts";
import { atAddress, type ReplyOf } from "#lib/http/client.ts";
import type { ChainView } from "#lib/pages/admin/view-platform-audit.ts";

const verifyPlatformAudit = atAddress<typeof contract.verifyPlatformAudit>({
  id: "verifyPlatformAudit",
  method: "POST",
  path: "/api/v1/platform/audit/verify",
});

type Props = {
  readonly view: Pick<ChainView, "events" | "checkpoints" | "totals">;
  /** The chain that is shown; undefined for all chains. */
  readonly chain: string | undefined;
};

const figures = new Intl.NumberFormat("en-GB");
const eventsText = (count: number): string => `${figures.format(count)} ${count === 1 ? "event" : "events"}`;

function Verified({ result, all }: { readonly result: ReplyOf<typeof contract.verifyPlatformAudit>; readonly all: boolean }) {
  const { valid, count, chains, firstBad, badChain, checkpoint } = result;
  return (
    <output>
      <strong className={`font-620 ${valid ? "text-positive" : "text-danger"}`}>
        {valid ? (all ? "Every chain is intact" : "Chain intact") : "A chain is broken"}
      </strong>
      <p className="text-sm">
        {eventsText(count)} verified{all && ` in ${figures.format(chains)} ${chains === 1 ? "chain" : "chains"}`}.{" "}
        {firstBad && (
          <>
            Event {firstBad.sequence} of <span className="mono">{badChain}</span>: {firstBad.detail}{" "}
          </>
        )}
        {checkpoint && (
          <>
            Compared with the checkpoint of <Moment at={checkpoint.signedAt} show="short" />, head{" "}
            <Copyable value={checkpoint.hash} label="head hash" head={8} tail={8} />
          </>
        )}
      </p>
    </output>
  );
}

export function ChainStatus({ view, chain }: Props) {
  const verify = useOperation(verifyPlatformAudit, { refresh: "never" });
  const [newest] = view.checkpoints;
  const all = chain === undefined;
  const query = all ? "" : `&chain=${encodeURIComponent(chain)}`;
  const tone = verify.data && (verify.data.valid ? "positive" : "danger");
  return (
    <>
      <div
        className="group grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-4 gap-y-3 border-b p-4 data-[tone=danger]:bg-danger-wash data-[tone=positive]:bg-positive-wash md:grid-cols-[auto_minmax(0,1fr)_auto] md:px-5"
        data-tone={tone}
      >
        <Link2
          className="icon size-6 text-muted group-data-[tone=danger]:text-danger group-data-[tone=positive]:text-positive"
          aria-hidden
        />
        {verify.data ? (
          <Verified result={verify.data} all={all} />
        ) : (
          <div>
            <strong className="font-620">{eventsText(all ? view.totals.events : view.events)}</strong>
            <p className="text-sm">
              {all && `In ${figures.format(view.totals.chains)} ${view.totals.chains === 1 ? "chain" : "chains"}. `}
              {newest ? (
                <>
                  {all ? "The platform’s chain was" : "Last"} signed <Moment at={newest.signedAt} show="short" />, head{" "}
                  <Copyable value={newest.hash} label="head hash" head={8} tail={8} />
                </>
              ) : (
                "Not signed yet: the first checkpoint comes within minutes of an event."
              )}
            </p>
          </div>
        )}
        <div className="actions max-md:col-span-full max-md:*:flex-1">
          <Button size="small" aria-busy={verify.busy} onClick={() => verify.send({ body: all ? {} : { chain } })}>
            {verify.data ? "Verify again" : "Verify"}
          </Button>
          <a className={buttonClass({ size: "small" })} href={`/admin/audit/export?format=ndjson${query}`} download>
            Export NDJSON
          </a>
          <a className={buttonClass({ size: "small" })} href={`/admin/audit/export?format=csv${query}`} download>
            Export CSV
          </a>
        </div>
      </div>
      <ProblemNotice error={verify.error} nothing="Nothing was verified." />
    </>
  );
}
