"use client";

import type { ReactNode } from "react";
import { buttonClass } from "#components/ui/button-class.ts";
import { Button } from "#components/ui/button.tsx";
import type { ProblemError } from "#lib/http/client.ts";

/* Every page loads this code before an error happens, so it imports little. */

const isProblem = (error: unknown): error is ProblemError => error instanceof Error && error.name === "ProblemError";

/** The request id, or the digest that Next.js gave the error; null for other errors. */
function idOf(error: unknown): { readonly label: string; readonly value: string } | null {
  if (isProblem(error)) return { label: "request id", value: error.problem.requestId };
  if (error instanceof Error && "digest" in error) return { label: "error id", value: String(error.digest) };
  return null;
}

type Props = { readonly error: unknown; readonly retry: () => void; readonly children?: ReactNode };

export function Failure({ error, retry, children }: Props) {
  const id = idOf(error);
  return (
    <>
      <h1>This page could not be shown</h1>
      <p>
        Nothing was changed, and nothing was paid. Try again in a moment. If it happens again, tell the operator of this service.
      </p>
      {id && (
        <p className="text-sm text-muted">
          For them: {id.label} <code className="wrap-anywhere">{id.value}</code>
        </p>
      )}
      <div className="actions">
        <Button tone="primary" onClick={retry}>
          Try again
        </Button>
        {children}
      </div>
    </>
  );
}

type PageProps = { readonly error: unknown; readonly retry: () => void };

export const FailureInFrame = ({ error, retry }: PageProps) => (
  <div className="panel panel-body grid justify-items-start gap-4" role="alert">
    <Failure error={error} retry={retry} />
  </div>
);

/** For errors of the frame of the application itself. */
export const FailureAlone = ({ error, retry }: PageProps) => (
  <div className="doc doc-narrow">
    <main id="main" tabIndex={-1}>
      <div className="sheet">
        <div className="sheet-part whole">
          <div className="lapsed" role="alert">
            <Failure error={error} retry={retry}>
              <a className={buttonClass()} href="/">
                Go to the start page
              </a>
            </Failure>
          </div>
        </div>
      </div>
    </main>
  </div>
);
