"use client";

import { Copyable } from "#components/ui/copyable.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { SaidError } from "#components/ui/said-error.ts";
import { ProblemError } from "#lib/http/client.ts";
import type { ErrorBody } from "#lib/problem.ts";
import { OnDemand } from "./on-demand.tsx";

const loadConfirm = () => import("#components/security/confirm-first.tsx").then(({ ConfirmFirst }) => ConfirmFirst);

/** Null if the service asks for no proof of identity or sends no list of methods; the list may be empty. */
function proofMethods(problem: ErrorBody | null): readonly string[] | null {
  if (problem?.code !== "step_up_required") return null;
  const methods = problem.nextActions[0]?.metadata?.["methods"];
  return Array.isArray(methods) ? methods.map(String) : null;
}

type Props = {
  readonly error: Error;
  /** What did not happen: "Nothing was saved." */
  readonly nothing: string;
};

/** If the reply lists methods to confirm the person's identity, shows controls for these and not the error. */
export function ProblemNotice({ error, nothing }: Props) {
  const problem = error instanceof ProblemError ? error.problem : null;
  const methods = proofMethods(problem);
  if (problem && methods) {
    return (
      <OnDemand wanted load={loadConfirm}>
        {(ConfirmFirst) => <ConfirmFirst detail={problem.detail} methods={methods} />}
      </OnDemand>
    );
  }
  const actions = problem?.nextActions.filter(({ href }) => href !== undefined) ?? [];
  return (
    <Notice tone="danger" role="alert">
      <p>
        <strong>{nothing}</strong>{" "}
        {problem?.detail ?? (error instanceof SaidError ? error.message : "We could not reach the service. Try again.")}
      </p>
      {problem?.errors && (
        <ul className="mt-1">
          {problem.errors.map(({ pointer, detail }) => (
            <li key={pointer}>{detail}</li>
          ))}
        </ul>
      )}
      {actions.length > 0 && (
        <p className="mt-1">
          {actions.map(({ label, href }) => (
            <a key={label} className="mr-4" href={href}>
              {label}
            </a>
          ))}
        </p>
      )}
      {problem && (
        <p className="mt-1">
          Answer <code>{problem.code}</code>, request id <Copyable value={problem.requestId} label="request id" head={8} />
        </p>
      )}
    </Notice>
  );
}
