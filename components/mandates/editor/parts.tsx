import { type ReactNode, useId, useState } from "react";
import { useDraft } from "./draft-form.ts";

type TermProps = { readonly title: string; readonly text?: string; readonly children: ReactNode };

/** One part of a mandate, under a heading. */
export function Term({ title, text, children }: TermProps) {
  const id = useId();
  return (
    <section className="term" aria-labelledby={id}>
      <div>
        <h2 id={id}>{title}</h2>
        {text !== undefined && <p>{text}</p>}
      </div>
      <div className="inside">{children}</div>
    </section>
  );
}

type DisclosedProps = {
  readonly summary: string;
  /** Opens at once where something is set. */
  readonly filled: boolean;
  /** Opens where one of these fields is refused. */
  readonly fields: readonly string[];
  readonly children: ReactNode;
};

/** What few mandates need, behind a line. What is wrong in it is never hidden. */
export function Disclosed({ summary, filled, fields, children }: DisclosedProps) {
  const { errorOf } = useDraft();
  const [open, setOpen] = useState(filled);
  const refused = fields.some((field) => errorOf(field) !== undefined);
  return (
    <details open={open || refused} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      <div className="inside">{children}</div>
    </details>
  );
}
