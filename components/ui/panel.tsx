import Link from "next/link";
import type { ReactNode } from "react";

type Props = {
  readonly id: string;
  readonly title: ReactNode;
  /** Text below the heading. */
  readonly about?: ReactNode;
  /** A few words beside the heading, such as a count. */
  readonly note?: ReactNode;
  /** A link, badge or button beside the heading. */
  readonly aside?: ReactNode;
  readonly children?: ReactNode;
};

/** A section under a heading, whose id must be unique on the page. */
export const Panel = ({ id, title, about, note, aside, children }: Props) => (
  <section className="panel" aria-labelledby={id}>
    <div className="panel-head">
      <h2 id={id}>{title}</h2>
      {about !== undefined && <p>{about}</p>}
      {note !== undefined && <span className="text-muted text-sm">{note}</span>}
      {aside}
    </div>
    {children}
  </section>
);

export const PanelLink = ({ href, children }: { readonly href: string; readonly children: string }) => (
  <Link className="text-sm" href={href}>
    {children}
  </Link>
);
