import type { ReactNode } from "react";

type Props = {
  /** What the reader's role does not show: "Your role does not show keys". */
  readonly title: string;
  /** Who can show it, or change the role. */
  readonly children: ReactNode;
};

/** In place of a page's content, for a member whose role lacks it. */
export const NoAccess = ({ title, children }: Props) => (
  <section className="panel empty">
    <h2>{title}</h2>
    <p>{children}</p>
  </section>
);
