"use client";

import { useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { FieldError, Select } from "#components/ui/field.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { Scripted } from "#components/ui/scripted.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { sampleBody, type Sample } from "#lib/pages/docs/sample.ts";
import type { Authorization } from "#lib/payment-intent.ts";
import { ExchangeLog } from "./exchange-log.tsx";
import { exchange, type ExchangeRequest, type Exchange } from "./exchange.ts";

type Props = {
  readonly sample: Sample;
  /** The active mandates from which the reader chooses; the service decides whether the chosen one allows the request. */
  readonly mandates: readonly { readonly mandateId: string; readonly name: string }[];
  readonly mayCreate: boolean;
};

const EXPIRES_MS = 600_000;

/** Null for an error response. */
const made = ({ status, received }: Exchange): Record<string, unknown> | null =>
  status < 400 ? (JSON.parse(received) as Record<string, unknown>) : null;

/** Returns the id of the mandate, or null if a request was refused. */
async function makeMandate({ policy }: Sample, ask: (asked: ExchangeRequest) => Promise<Exchange>): Promise<string | null> {
  const body = JSON.stringify({ name: "Quickstart", policy });
  const mandateId = made(await ask({ method: "POST", path: "/api/v1/mandates", body }))?.["mandateId"];
  if (typeof mandateId !== "string") return null;
  const activated = await ask({ method: "POST", path: `/api/v1/mandates/${mandateId}/activate`, body: "{}" });
  return made(activated) === null ? null : mandateId;
}

async function authorize(sample: Sample, mandateId: string, ask: (asked: ExchangeRequest) => Promise<Exchange>) {
  const fresh = { name: `first-${crypto.randomUUID().slice(0, 8)}`, expiresAt: new Date(Date.now() + EXPIRES_MS) };
  const body = JSON.stringify(sampleBody(mandateId, sample, fresh));
  return made(await ask({ method: "POST", path: "/api/v1/payments/authorize", body })) as Authorization | null;
}

function Decision({ decided }: { readonly decided: Authorization }) {
  const { outcome, reasons } = decided.policyDecision;
  return (
    <div className="grid gap-2">
      <p>
        <StatusBadge of="outcome" status={outcome} />
      </p>
      <ul className="text-sm text-muted list-disc pl-5">
        {reasons.map(({ rule, message }) => (
          <li key={rule + message}>{message}</li>
        ))}
      </ul>
    </div>
  );
}

export function RunSample({ sample, mandates, mayCreate }: Props) {
  const [log, setLog] = useState<readonly Exchange[]>([]);
  const [mandateId, setMandateId] = useState(mandates[0]?.mandateId ?? "");
  const run = async () => {
    const ask = async (asked: ExchangeRequest) => {
      const one = await exchange(asked);
      setLog((before) => [one, ...before]);
      return one;
    };
    const under = mandateId === "" ? await makeMandate(sample, ask) : mandateId;
    return under === null ? null : authorize(sample, under, ask);
  };
  const { send, busy, error, data } = useOperation(run, {
    done: (decided) => announce(decided ? `Decided: ${decided.policyDecision.outcome}` : "Refused. The reply says why."),
  });
  const choices = [
    ...mandates.map((one) => [one.mandateId, one.name] as const),
    ...(mayCreate ? [["", "A new one, made for this"] as const] : []),
  ];
  if (choices.length === 0) {
    return <p className="text-sm text-muted">There is no active mandate to ask under. An owner or admin makes one.</p>;
  }
  return (
    <div className="grid grid-cols-1 gap-4">
      <div className="flex flex-wrap items-end gap-3">
        <Scripted>
          <Select label="Mandate" value={mandateId} options={choices} onChange={(event) => setMandateId(event.target.value)} />
        </Scripted>
        <Button tone="primary" aria-busy={busy} onClick={() => send()}>
          Run in sandbox
        </Button>
      </div>
      {error && <FieldError>We could not reach the service. Try again.</FieldError>}
      {data && <Decision decided={data} />}
      {log.length > 0 && <ExchangeLog exchanges={log} />}
    </div>
  );
}
