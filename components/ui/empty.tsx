import type { ReactNode } from "react";

type Props = {
  /** What is not there yet: "No payments yet". */
  readonly title: string;
  /** One sentence: what will stand here, and what brings it. */
  readonly children: ReactNode;
  /** The primary action, where there is one. */
  readonly action?: ReactNode;
  /** A Code block, where one helps. */
  readonly snippet?: ReactNode;
};

/**
 * Nothing here yet, inside a panel.
 *
 *     <Empty title="No mandates yet" action={<Link className={buttonClass({ tone: "primary" })} href="/mandates/new">New mandate</Link>}>
 *       A mandate says what an agent may pay.
 *     </Empty>
 */
export function Empty({ title, children, action, snippet }: Props) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
      {snippet !== undefined && <div className="snippet">{snippet}</div>}
    </div>
  );
}
