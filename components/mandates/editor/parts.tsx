import { type ReactNode, useId, useState } from "react";
import { useDraft } from "./draft-form.ts";

/** Amounts are typed and sent as text, because numbers would lose digits. */
export const amount = { inputMode: "decimal", autoComplete: "off", className: "num" } as const;

type TermProps = { readonly title: string; readonly text?: string; readonly children: ReactNode };

export function Term({ title, text, children }: TermProps) {
  const id = useId();
  return (
    <section className="grid grid-cols-1 gap-4 px-4 py-5 not-first:border-t md:p-6" aria-labelledby={id}>
      <div>
        <h2 id={id} className="text-base">
          {title}
        </h2>
        {text !== undefined && <p className="text-sm text-muted">{text}</p>}
      </div>
      <div className="grid min-w-0 grid-cols-1 gap-5">{children}</div>
    </section>
  );
}

type DisclosedProps = {
  readonly summary: string;
  readonly filled: boolean;
  readonly fields: readonly string[];
  readonly children: ReactNode;
};

/** The section is open at first if `filled`, and opens if one of its fields has an error. */
export function Disclosed({ summary, filled, fields, children }: DisclosedProps) {
  const { errorOf } = useDraft();
  const [open, setOpen] = useState(filled);
  const refused = fields.some((field) => errorOf(field) !== undefined);
  return (
    <details open={open || refused} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{summary}</summary>
      <div className="grid min-w-0 grid-cols-1 gap-5 pt-4">{children}</div>
    </details>
  );
}

export const PaymentItem = ({ children }: { readonly children: ReactNode }) => (
  <li className="grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 gap-y-1 px-4 py-3 text-sm md:px-5">{children}</li>
);
