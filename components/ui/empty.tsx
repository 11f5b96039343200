import type { ReactNode } from "react";

type Props = {
  /** Says what is missing: "No payments yet". */
  readonly title: string;
  /** One sentence that says what will be shown here, and how to create it. */
  readonly children: ReactNode;
  /** The main action, if there is one. */
  readonly action?: ReactNode;
  /** A Code block, if it helps. */
  readonly snippet?: ReactNode;
};

/**
 * The empty state of a panel.
 *
 *     <Empty title="No mandates yet" action={<Link className={buttonClass({ tone: "primary" })} href="/mandates/new">New mandate</Link>}>
 *       A mandate says what an agent may pay.
 *     </Empty>
 */
export function Empty({ title, children, action, snippet }: Props) {
  return (
    <div className="grid grid-cols-1 justify-items-start gap-4 px-6 py-8">
      <h2 className="text-base">{title}</h2>
      <p className="max-w-[52ch] text-muted">{children}</p>
      {action}
      {snippet !== undefined && <div className="w-full">{snippet}</div>}
    </div>
  );
}
