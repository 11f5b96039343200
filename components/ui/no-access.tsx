import type { ReactNode } from "react";

type Props = {
  /** Says what the reader's role may not see: "Your role does not show keys". */
  readonly title: string;
  /** Says who can show the content or change the role. */
  readonly children: ReactNode;
};

/** Shown in place of content that the member's role may not see. */
export const NoAccess = ({ title, children }: Props) => (
  <section className="panel empty">
    <h2>{title}</h2>
    <p>{children}</p>
  </section>
);
