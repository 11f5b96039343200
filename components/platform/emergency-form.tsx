"use client";

import { type FormEvent, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Field, TextArea } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { Notice } from "#components/ui/notice.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { Scripted } from "#components/ui/scripted.tsx";
import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/platform/contract.ts";
import { REASON_MIN } from "./role-words.ts";

const emergencyRevoke = atAddress<typeof contract.emergencyRevoke>({
  id: "emergencyRevoke",
  method: "POST",
  path: "/api/v1/platform/emergency/revoke",
});

export type Target = { readonly mandateId?: string; readonly agentId?: string; readonly sellerId?: string };

export const typedWord = (named: Target): string =>
  `revoke ${Object.values(named)
    .map((id) => id.slice(-5))
    .join(" ")}`;

export function EmergencyForm({ named }: { readonly named: Target }) {
  const word = typedWord(named);
  const [typed, setTyped] = useState("");
  const revoke = useOperation(emergencyRevoke);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (typed.trim() !== word) return;
    revoke.send({ body: { ...named, reason: formText(new FormData(event.currentTarget), "reason").trim() } });
  };
  if (revoke.data) return <Done actionId={revoke.data.actionId} metadata={revoke.data.auditEvent.metadata} />;
  return (
    <form className="grid gap-5" method="post" onSubmit={submit}>
      <Scripted>
        <TextArea
          label="Reason"
          name="reason"
          required
          minLength={REASON_MIN}
          maxLength={500}
          hint={`At least ${REASON_MIN} characters. The organization concerned reads it in its audit log.`}
        />
        <Field
          label={`To confirm, type ${word}`}
          name="typed"
          autoComplete="off"
          spellCheck={false}
          className="mono"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          hint="The last five characters of each id that you are about to stop."
        />
      </Scripted>
      <ProblemNotice error={revoke.error} nothing="Nothing was stopped." />
      <div>
        <Button tone="danger" size="large" type="submit" disabled={typed.trim() !== word} aria-busy={revoke.busy}>
          Revoke now
        </Button>
      </div>
    </form>
  );
}

type Metadata = Readonly<Record<string, unknown>>;

function submittedWords({ submittedExecutions, moreExecutions }: Metadata): string {
  const count = Array.isArray(submittedExecutions) ? submittedExecutions.length : 0;
  if (count === 0) return "";
  if (count === 1) return " One payment was submitted before and is followed to its end.";
  return ` ${moreExecutions === true ? "More than " : ""}${count} payments were submitted before and are followed to their end.`;
}

const Done = ({ actionId, metadata }: { readonly actionId: string; readonly metadata: Metadata }) => (
  <output>
    <Notice tone="positive">
      <p>
        <strong>Stopped.</strong> Nothing new is authorized, approved or submitted.
        {submittedWords(metadata)}
      </p>
      <p className="mt-1">
        Action <Copyable value={actionId} label="action id" head={8} />
      </p>
    </Notice>
  </output>
);
