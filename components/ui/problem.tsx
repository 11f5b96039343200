"use client";

import { Copyable } from "#components/ui/copyable.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { SaidError } from "#components/ui/said-error.ts";
import { ProblemError } from "#lib/http/client.ts";

type Props = {
  readonly error: Error | null;
  /** What did not happen: "Nothing was saved." */
  readonly nothing: string;
};

export function ProblemNotice({ error, nothing }: Props) {
  if (error === null) return null;
  const problem = error instanceof ProblemError ? error.problem : null;
  // The way to prove an identity is a call, which the page makes itself, and not a page.
  const actions = problem?.nextActions.filter(({ href }) => href !== undefined && !href.startsWith("/api/")) ?? [];
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
