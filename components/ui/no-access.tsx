import type { ReactNode } from "react";

type Props = {
  readonly title: string;
  readonly children: ReactNode;
};

export const NoAccess = ({ title, children }: Props) => (
  <section className="panel empty">
    <h2>{title}</h2>
    <p>{children}</p>
  </section>
);
