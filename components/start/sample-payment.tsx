"use client";

import Link from "next/link";
import { useEffect, useRef, useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Button } from "#components/ui/button.tsx";
import { Select } from "#components/ui/field.tsx";
import { money } from "#components/ui/money.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { Scripted } from "#components/ui/scripted.tsx";
import { Timeline, type TimelineItem } from "#components/ui/timeline.tsx";
import { weather, type Sample } from "#lib/sandbox/samples.ts";
import { OnPhone } from "./on-phone.tsx";
import { openSample, type OpenSample } from "./open-sample.ts";
import { paySample, resumeSample, type SampleRun, type StageId } from "./pay-sample.ts";

export type SampleMandate = {
  readonly mandateId: string;
  readonly name: string;
  /** The shop's product for this mandate; if possible, one for which the mandate asks a person. */
  readonly goods: Sample;
};

type Props = {
  readonly baseUrl: string;
  readonly asset: string;
  /** Active mandates of the organization in the asset with which the test wallet pays. */
  readonly mandates: readonly SampleMandate[];
};

const stages: readonly (readonly [StageId, string])[] = [
  ["price", "The seller says what it costs"],
  ["decision", "Countersign decides under your mandate"],
  ["approval", "A person approves"],
  ["signature", "The test wallet signs"],
  ["delivery", "The seller delivers"],
  ["settlement", "Settled on the chain"],
];

function itemsOf({ at, state, checkoutIntentId }: SampleRun): readonly TimelineItem[] {
  const shown = stages.filter(([id]) => id !== "approval" || checkoutIntentId !== undefined);
  const now = shown.findIndex(([id]) => id === at);
  return shown.map(([, title], index) => {
    if (index < now || (index === now && state === "settled")) return { title, state: "done" };
    if (index > now) return { title };
    return { title, state: state === "stopped" ? "stopped" : "now" };
  });
}

function Denied({ run: { authorization } }: { readonly run: SampleRun }) {
  if (!authorization) return null;
  const against = authorization.policyDecision.reasons.filter(({ effect }) => effect === "deny");
  return (
    <Notice tone="danger">
      <strong>Denied. Nothing was paid.</strong>
      <ul className="list-disc pl-5">
        {against.map(({ rule, message }) => (
          <li key={rule + message}>{message}</li>
        ))}
      </ul>
      <a href={`/payments/${authorization.authorizationId}`}>See what would have allowed it</a>
    </Notice>
  );
}

function Waiting({ run: { at, state, checkoutIntentId }, baseUrl }: { readonly run: SampleRun; readonly baseUrl: string }) {
  if (at !== "approval" || state !== "running" || checkoutIntentId === undefined) return null;
  const path = `/checkout/${checkoutIntentId}`;
  return (
    <div className="grid grid-cols-1 gap-4">
      <p className="text-sm">
        Decide on your phone, or in another tab here. This page continues automatically. If you leave it, the payment waits until
        you come back.
      </p>
      <p>
        <a className={buttonClass({ tone: "primary" })} href={path} target="_blank" rel="noopener">
          Review the request
        </a>
      </p>
      <OnPhone baseUrl={baseUrl} path={path} />
    </div>
  );
}

function Settled({ run: { state, authorization } }: { readonly run: SampleRun }) {
  if (state !== "settled" || !authorization) return null;
  const path = `/payments/${authorization.authorizationId}`;
  return (
    <Notice tone="positive">
      <strong>Settled.</strong> The seller has the money and delivered. <Link href={path}>See the payment</Link> or{" "}
      <Link href={`${path}/receipt`}>its receipt</Link>.
    </Notice>
  );
}

type Asked = OpenSample | { readonly sample: Sample; readonly mandateId: string };

function useSample(asset: string, mandates: readonly SampleMandate[]) {
  const [run, setRun] = useState<SampleRun | null>(null);
  const end = useRef<AbortController | null>(null);
  useEffect(() => () => end.current?.abort(), []);
  const pay = useOperation((asked: Asked) => {
    end.current = new AbortController();
    const tools = { tell: setRun, signal: end.current.signal };
    return "authorization" in asked ? resumeSample(asked, tools) : paySample({ ...asked, asset }, tools);
  });
  const { send } = pay;
  const ids = mandates.map(({ mandateId }) => mandateId).join(" ");
  useEffect(() => {
    // Later, because in development React runs this effect twice, and would end the first run at once.
    const timer = setTimeout(() => {
      const open = end.current === null || end.current.signal.aborted ? openSample(ids.split(" ")) : null;
      if (open) send(open);
    });
    return () => clearTimeout(timer);
  }, [ids, send]);
  useEffect(() => {
    if (run?.state === "settled") announce("The payment settled");
    if (run?.state === "stopped") announce(run.why ?? "The payment was denied");
  }, [run]);
  return { run, pay };
}

export function SamplePayment({ baseUrl, asset, mandates }: Props) {
  const { run, pay } = useSample(asset, mandates);
  const [chosen, setChosen] = useState(mandates[0]?.mandateId ?? "");
  const mandate = mandates.find(({ mandateId }) => mandateId === chosen) ?? mandates[0];
  if (!mandate)
    return (
      <p className="text-sm text-muted">
        Countersign decides it under a mandate, your spending policy. Write one and activate it first.
      </p>
    );
  const { mandateId, goods } = mandate;
  const start = (sample: Sample) => pay.send({ sample, mandateId });
  const price = ({ amount }: Sample) => money(amount, asset);
  return (
    <div className="grid grid-cols-1 gap-5">
      <Scripted>
        {mandates.length > 1 && (
          <Select
            label="Mandate"
            value={mandateId}
            options={mandates.map((one) => [one.mandateId, one.name] as const)}
            onChange={(event) => setChosen(event.target.value)}
          />
        )}
        <div className="actions max-md:*:w-full">
          <Button tone="primary" aria-busy={pay.busy} onClick={() => start(weather)}>
            Pay {price(weather)} for a forecast
          </Button>
          <Button aria-busy={pay.busy} onClick={() => start(goods)}>
            Buy {goods.title.replace(/^A/, "a")} for {price(goods)}
          </Button>
        </div>
      </Scripted>
      {run && <Timeline label="Sample payment" items={itemsOf(run)} />}
      {run && <Waiting run={run} baseUrl={baseUrl} />}
      {run?.state === "stopped" && run.at === "decision" && <Denied run={run} />}
      {run?.state === "stopped" && run.why !== undefined && <Notice tone="caution">{run.why}</Notice>}
      {run && <Settled run={run} />}
      <ProblemNotice error={pay.error} nothing="The payment stopped here." />
    </div>
  );
}
