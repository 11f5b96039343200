import type { ReactNode } from "react";

/** A document in one piece. */
export const Sheet = ({ children }: { readonly children: ReactNode }) => (
  <div className="sheet">
    <div className="sheet-part whole">{children}</div>
  </div>
);
