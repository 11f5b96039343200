"use client";

import { ShieldCheck } from "lucide-react";
import Link from "next/link";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { atAddress, type ReplyOf } from "#lib/http/client.ts";
import type * as contract from "#lib/audit/contract.ts";

const verifyAudit = atAddress<typeof contract.verifyAudit>({ id: "verifyAudit", method: "POST", path: "/api/v1/audit/verify" });

type Verification = ReplyOf<typeof contract.verifyAudit>;

function Result({ valid, count, head, firstBad }: Verification) {
  if (valid) {
    return (
      <Notice tone="positive">
        <p>
          <strong>{count === 1 ? "The one event is" : `All ${count} events are`} as written.</strong> The newest hash is{" "}
          <Copyable value={head} label="newest hash" head={8} tail={8} />. Store it elsewhere, and nobody can rewrite earlier
          events unnoticed.
        </p>
      </Notice>
    );
  }
  return (
    <Notice tone="danger" role="alert">
      <p>
        <strong>The log was changed.</strong> The first {count} events verify.{" "}
        {firstBad && (
          <>
            <Link href={`/settings/audit/${firstBad.sequence}`}>Event {firstBad.sequence}</Link>: {firstBad.detail}
          </>
        )}
      </p>
    </Notice>
  );
}

export function VerifyChain() {
  const verify = useOperation(verifyAudit, {
    done: ({ valid }) => announce(valid ? "No event was changed" : "The log was changed"),
    refresh: "never",
  });
  return (
    <section className="panel" aria-labelledby="verify">
      <div className="panel-head">
        <h2 id="verify">Is the log complete?</h2>
      </div>
      <div className="panel-body grid gap-4">
        <p className="text-sm text-muted">
          The events are the leaves of a Merkle tree, whose root is signed. Verifying reads all of them and computes every hash
          again: an event that was changed, removed or inserted does not match.
        </p>
        <div>
          <Button aria-busy={verify.busy} onClick={() => verify.send({ body: {} })}>
            <ShieldCheck className="icon" aria-hidden />
            Verify the log
          </Button>
        </div>
        {verify.data && <Result {...verify.data} />}
        <ProblemNotice error={verify.error} nothing="Nothing was verified." />
      </div>
    </section>
  );
}
