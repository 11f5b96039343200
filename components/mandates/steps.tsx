"use client";

import Link from "next/link";
import { announce } from "#components/ui/announcements.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Button } from "#components/ui/button.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { plural } from "#components/ui/plural.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { ReasonDialog } from "#components/ui/confirm-dialog.tsx";
import { call } from "#lib/http/client.ts";
import type { MandateView } from "#lib/pages/buyer/view-mandate.ts";
import type { MandateStatus } from "#lib/vocabulary.ts";
import { activateMandate, resumeMandate, revokeMandate, suspendMandate } from "./calls.ts";

type Rights = { readonly manage: boolean; readonly revoke: boolean };

type StepProps = { readonly mandateId: string };

function PutInForce({ mandateId, step }: StepProps & { readonly step: "activate" | "resume" }) {
  const { send, busy, error } = useOperation(step === "activate" ? activateMandate : resumeMandate, {
    done: () => announce(step === "activate" ? "The mandate is active" : "The mandate is active again"),
  });
  return (
    <>
      <Button tone="primary" aria-busy={busy} onClick={() => send({ id: mandateId })}>
        {step === "activate" ? "Activate" : "Resume"}
      </Button>
      <ProblemNotice error={error} nothing={step === "activate" ? "Nothing was activated." : "Nothing was resumed."} />
    </>
  );
}

type EffectProps = { readonly effect: MandateView["effect"]; readonly asset: string };

function Effect({ effect: { reserved, kept, submitted, waiting }, asset }: EffectProps) {
  return (
    <ul className="grid gap-1">
      <li>As soon as you confirm, nothing new is authorized, approved or sent under this mandate.</li>
      {Number(reserved) > 0 && (
        <li>
          <Money>{money(reserved, asset)}</Money> is held under it. Payments that were not sent yet are canceled.
        </li>
      )}
      {Number(kept) > 0 && (
        <li>
          <Money>{money(kept, asset)}</Money> stays held for payments that are made by card or elsewhere, until they are closed.
        </li>
      )}
      {submitted > 0 && (
        <li>{plural(submitted, "payment")} already submitted: followed to the end, because money may be on its way.</li>
      )}
      {waiting > 0 && <li>{plural(waiting, "request")} waiting for a person can no longer be approved under it.</li>}
    </ul>
  );
}

function Pause({ mandateId, effect, asset }: StepProps & EffectProps) {
  return (
    <ReasonDialog
      trigger="Pause"
      title="Pause this mandate"
      action="Pause mandate"
      nothing="Nothing was paused."
      reasonRequired={false}
      act={(reason) => call(suspendMandate, { id: mandateId, body: reason === "" ? {} : { reason } })}
      done={() => announce("The mandate is paused")}
    >
      <Effect effect={effect} asset={asset} />
      <p className="mt-3">You can resume it at any time. Its budgets keep what was used.</p>
    </ReasonDialog>
  );
}

function Revoke({ mandateId, effect, asset }: StepProps & EffectProps) {
  return (
    <ReasonDialog
      trigger="Revoke"
      look={{ tone: "warn" }}
      title="Revoke this mandate permanently"
      action="Revoke mandate"
      nothing="Nothing was revoked."
      act={(reason) => call(revokeMandate, { id: mandateId, body: { reason } })}
      done={() => announce("The mandate is revoked")}
    >
      <Effect effect={effect} asset={asset} />
      <p className="mt-3">A revoked mandate stays revoked. To let its agents pay again, write another one.</p>
    </ReasonDialog>
  );
}

const pausable: ReadonlySet<MandateStatus> = new Set(["active", "expired", "exhausted"]);

type Props = EffectProps & StepProps & { readonly status: MandateStatus; readonly rights: Rights };

export function Steps({ mandateId, status, rights, effect, asset }: Props) {
  if (status === "revoked") return null;
  const shared = { mandateId, effect, asset };
  return (
    <>
      {rights.manage && (
        <Link className={buttonClass()} href={`/mandates/${mandateId}/edit`}>
          Edit
        </Link>
      )}
      {rights.revoke && pausable.has(status) && <Pause {...shared} />}
      {rights.revoke && <Revoke {...shared} />}
      {rights.manage && status === "draft" && <PutInForce mandateId={mandateId} step="activate" />}
      {rights.manage && status === "suspended" && <PutInForce mandateId={mandateId} step="resume" />}
    </>
  );
}
