import type { ReactNode } from "react";
import { Empty } from "./empty.tsx";

type Props = {
  readonly title: string;
  readonly children: ReactNode;
};

export const NoAccess = ({ title, children }: Props) => (
  <section className="panel">
    <Empty title={title}>{children}</Empty>
  </section>
);
