import { Copyable } from "#components/ui/copyable.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { ProblemError } from "#lib/http/client.ts";

/** What was refused, what did not happen, what to do, and the request id to name. */
export function ProblemNotice({ error, nothing }: { readonly error: Error; readonly nothing: string }) {
  const problem = error instanceof ProblemError ? error.problem : null;
  return (
    <Notice tone="danger" role="alert">
      <p>
        <strong>{nothing}</strong> {problem?.detail ?? "We could not reach the service. Try again."}
      </p>
      {problem && (
        <p className="mt-1">
          Answer <code>{problem.code}</code>, request id <Copyable value={problem.requestId} label="request id" head={8} />
        </p>
      )}
    </Notice>
  );
}
