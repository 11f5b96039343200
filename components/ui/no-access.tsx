import type { ReactNode } from "react";

type Props = {
  /** What the reader's role may not see: "Your role does not show keys". */
  readonly title: string;
  /** Who can show the content or change the role. */
  readonly children: ReactNode;
};

/** Replaces a page's content that the member's role may not see. */
export const NoAccess = ({ title, children }: Props) => (
  <section className="panel empty">
    <h2>{title}</h2>
    <p>{children}</p>
  </section>
);
