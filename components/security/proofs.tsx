"use client";

import { useEffect, useState } from "react";
import { OnDemand } from "#components/ui/on-demand.tsx";
import { proveWith } from "#lib/http/client.ts";
import type { ErrorBody } from "#lib/problem.ts";

const load = () => import("./proof-dialog.tsx").then(({ ProofDialog }) => ProofDialog);

type Asked = { readonly problem: ErrorBody; readonly answer: (proved: boolean) => void };

/** Asks for a proof of identity, above whatever is open, if the service refuses a request for lack of one. */
export function Proofs() {
  const [asked, setAsked] = useState<Asked | null>(null);
  useEffect(() => {
    let open: Asked | null = null;
    const close = (proved: boolean) => {
      const { answer } = open ?? {};
      open = null;
      setAsked(null);
      answer?.(proved);
    };
    proveWith((problem) => {
      // One dialog at a time: the other request keeps its refusal.
      if (open) return Promise.resolve(false);
      return new Promise((answer) => {
        open = { problem, answer };
        setAsked({ problem, answer: close });
      });
    });
    return () => {
      proveWith(undefined);
      close(false);
    };
  }, []);
  return (
    <OnDemand wanted={asked !== null} load={load} giveUp={() => asked?.answer(false)}>
      {(ProofDialog) => asked && <ProofDialog key={asked.problem.requestId} {...asked} />}
    </OnDemand>
  );
}
