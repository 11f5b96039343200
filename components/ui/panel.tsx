import type { ReactNode } from "react";

type Props = { readonly id: string; readonly title: string; readonly children: ReactNode };

/** A section under a heading, whose id must be unique on the page. */
export const Panel = ({ id, title, children }: Props) => (
  <section className="panel" aria-labelledby={id}>
    <div className="panel-head">
      <h2 id={id}>{title}</h2>
    </div>
    {children}
  </section>
);
