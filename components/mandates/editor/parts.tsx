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
  /** Open at first, because some of its fields have a value. */
  readonly filled: boolean;
  /** Opens if one of these fields has an error. */
  readonly fields: readonly string[];
  readonly children: ReactNode;
};

/** A collapsed section for fields that few mandates need. It opens if a field in it has an error. */
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
