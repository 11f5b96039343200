import type { ReactNode } from "react";

type Props = {
  readonly title: ReactNode;
  /** One sentence below the title: text, or text with a badge. */
  readonly description?: ReactNode;
  /** Buttons and links on the right; at most one is primary. */
  readonly actions?: ReactNode;
  /** The parent page. */
  readonly back?: { readonly href: string; readonly label: string };
};

/**
 * The head of a page, and its only h1.
 *
 *     <PageHeader title="Payments" description="What your agents paid." actions={<a className={buttonClass()} href="…">Export</a>} />
 */
export function PageHeader({ title, description, actions, back }: Props) {
  return (
    <>
      {back && (
        <p className="crumb">
          <a href={back.href}>{back.label}</a>
        </p>
      )}
      <div className="page-head">
        <div>
          <h1>{title}</h1>
          {description !== undefined && <p>{description}</p>}
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </div>
    </>
  );
}
