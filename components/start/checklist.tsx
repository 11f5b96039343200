"use client";

import { useQuery } from "@tanstack/react-query";
import Link from "next/link";
import { type ReactNode, useEffect, useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Dated } from "#components/ui/dated.tsx";
import type { Progress, StepId } from "#lib/pages/settings/progress.ts";
import { checks } from "./checks.ts";

const EVERY_MS = 3_000;

export type StepView = {
  readonly id: StepId;
  readonly title: string;
  readonly text: string;
  /** Undefined if the reader's role may not do the step. */
  readonly action: { readonly label: string; readonly href: string } | undefined;
  /** Why the newest denied payment was denied; `fix` is a change of the mandate that ends it, or null if none is offered. */
  readonly denied?: { readonly why: string; readonly fix: { readonly label: string; readonly href: string } | null };
};

type StepProps = {
  readonly step: StepView;
  readonly initial: boolean;
  /** Whether this is the first step that is not done. */
  readonly now: boolean;
  readonly onDone: (id: StepId) => void;
};

const Denied = ({ denied: { why, fix } }: { readonly denied: NonNullable<StepView["denied"]> }) => (
  <p className="text-danger wrap-anywhere">
    A payment was denied: <Dated>{why}</Dated> {fix && <Link href={fix.href}>{fix.label}</Link>}
  </p>
);

function Step({ step: { id, title, text, action, denied }, initial, now, onDone }: StepProps) {
  const { data } = useQuery({
    queryKey: ["first-steps", id],
    queryFn: checks[id],
    initialData: initial,
    enabled: !initial,
    retry: false,
    refetchInterval: ({ state }) => (state.data === true ? false : EVERY_MS),
  });
  // The page itself may be refreshed before the next check and may then say that the step is done.
  const done = initial || data;
  useEffect(() => {
    if (!done || initial) return;
    announce(`Done: ${title}`);
    onDone(id);
  }, [done, initial, id, title, onDone]);
  return (
    <li data-state={done ? "done" : now ? "now" : undefined}>
      <h3>
        <span>
          <span className="sr">{done ? "Done: " : now ? "Now: " : "Not yet: "}</span>
          {title}
        </span>
      </h3>
      <p>{text}</p>
      {!done && denied && <Denied denied={denied} />}
      {!done && action && (
        <p className="pt-2">
          <Link className={buttonClass({ size: "small", ...(now && { tone: "primary" }) })} href={action.href}>
            {action.label}
          </Link>
        </p>
      )}
      {!done && !action && <p>An owner or admin does this.</p>}
    </li>
  );
}

type Props = { readonly steps: readonly StepView[]; readonly done: Progress; readonly children?: ReactNode };

/** A step is shown as done soon after its result exists, wherever it was created. */
export function Checklist({ steps, done, children }: Props) {
  const [since, setSince] = useState<ReadonlySet<StepId>>(new Set());
  const [onDone] = useState(() => (id: StepId) => setSince((before) => new Set([...before, id])));
  const isDone = ({ id }: StepView) => done[id] || since.has(id);
  const next = steps.find((step) => !isDone(step));
  const count = steps.filter(isDone).length;
  return (
    <section className="panel" aria-labelledby="first-steps">
      <div className="panel-head">
        <h2 id="first-steps">First steps</h2>
        <span className="text-muted text-sm">
          {count} of {steps.length} done
        </span>
      </div>
      <ol className="timeline p-5">
        {steps.map((step) => (
          <Step key={step.id} step={step} initial={done[step.id]} now={step === next} onDone={onDone} />
        ))}
      </ol>
      {children}
    </section>
  );
}
