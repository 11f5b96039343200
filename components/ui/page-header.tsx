import type { ReactNode } from "react";

type Props = {
  readonly title: ReactNode;
  readonly description?: ReactNode;
  readonly actions?: ReactNode;
  readonly back?: { readonly href: string; readonly label: string };
  readonly large?: boolean;
};

const LARGE = "wrap-anywhere text-3xl tracking-display max-md:text-[1.875rem] [&_abbr]:text-[0.6em]";

/** The head of a page, and its only h1. */
export function PageHeader({ title, description, actions, back, large = false }: Props) {
  return (
    <>
      {back && (
        <p className="mb-3 text-sm">
          <a href={back.href}>{back.label}</a>
        </p>
      )}
      <div className="mb-6 flex flex-wrap items-end justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 flex-[1_1_22rem]">
          <h1 className={large ? LARGE : "wrap-anywhere"}>{title}</h1>
          {description !== undefined && <p className={`text-muted ${large ? "mt-2" : "mt-1 max-w-[62ch]"}`}>{description}</p>}
        </div>
        {actions !== undefined && (
          <div className="actions max-md:w-full max-md:[&_.btn]:w-full max-md:[&_.btn]:flex-1">{actions}</div>
        )}
      </div>
    </>
  );
}
