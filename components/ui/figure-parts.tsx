import type { ReactNode } from "react";
import { Ledger, type LedgerProps } from "./ledger.tsx";

export const EmptyFigure = ({ children }: { readonly children: ReactNode }) => (
  <p className="grid min-h-32 place-items-center rounded-sm bg-sunken px-4 text-center text-sm text-muted">{children}</p>
);

export const FigureTable = <R,>(props: Pick<LedgerProps<R>, "caption" | "columns" | "rows" | "rowKey">) => (
  <details>
    <summary>Show as table</summary>
    <Ledger compact {...props} />
  </details>
);
