"use client";

import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Choice } from "#components/ui/choice.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";
import { Notice } from "#components/ui/notice.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { call, ProblemError } from "#lib/http/client.ts";
import type { Device } from "#lib/push/contract.ts";
import { addDevice, removeDevice } from "./calls.ts";
import { subscribe, supportOf, unsubscribe } from "./subscribe.ts";

const refusals = {
  none: "This browser takes no messages. On an iPhone or iPad, add Countersign to the home screen first and open it there.",
  blocked: "This browser blocks notifications from this site. Allow them in the browser’s settings, then reload this page.",
} as const;

const Failed = ({ error }: { readonly error: Error }) =>
  error instanceof ProblemError ? (
    <ProblemNotice error={error} nothing="Nothing was changed." />
  ) : (
    <Notice tone="danger" role="alert">
      The browser did not allow messages, or could not reach its push service. Nothing was changed.
    </Notice>
  );

type Props = { readonly applicationServerKey: string; readonly device: Device | null };

export function ThisDevice({ applicationServerKey, device }: Props) {
  const [details, setDetails] = useState(device?.details ?? false);
  const turnOn = async (shown: boolean) => {
    const subscription = await subscribe(applicationServerKey);
    return call(addDevice, { body: { ...subscription, details: shown } });
  };
  const { send, busy, error } = useOperation(turnOn, {
    done: "Messages go to this browser",
    failed: () => setDetails(device?.details ?? false),
  });
  const support = useHydrated() ? supportOf() : "ready";
  if (device === null && support !== "ready") return <p className="max-w-[60ch] text-muted">{refusals[support]}</p>;
  const choose = (shown: boolean) => {
    setDetails(shown);
    if (device !== null) send(shown);
  };
  return (
    <div className="grid max-w-[60ch] gap-5">
      <Choice type="checkbox" checked={details} disabled={busy} onChange={({ target }) => choose(target.checked)}>
        <strong>Show payee and amount in messages to this browser</strong>
        <span>Others may read them on your lock screen. Without this, a message only says that a payment waits.</span>
      </Choice>
      <div className="actions">
        {device === null ? (
          <Button tone="primary" aria-busy={busy} onClick={() => send(details)}>
            Turn on for this browser
          </Button>
        ) : (
          <RemoveDevice device={device} label="Turn off for this browser" />
        )}
      </div>
      {error && <Failed error={error} />}
    </div>
  );
}

type RemoveProps = { readonly device: Device; readonly label?: string };

export function RemoveDevice({ device: { deviceId, name, current }, label }: RemoveProps) {
  const remove = async () => {
    await call(removeDevice, { deviceId, body: {} });
    if (current) await unsubscribe().catch(() => {});
  };
  const { send, busy, error } = useOperation(remove, { done: "No more messages to this device" });
  const look = label === undefined ? ({ size: "small", "aria-label": `Remove ${name}` } as const) : {};
  return (
    <>
      <Button {...look} aria-busy={busy} onClick={() => send()}>
        {label ?? "Remove"}
      </Button>
      <ProblemNotice error={error} nothing="The device was not removed." />
    </>
  );
}
