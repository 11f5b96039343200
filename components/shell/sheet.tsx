import type { ReactNode } from "react";

/** A document on one sheet, without a cut line. */
export const Sheet = ({ children }: { readonly children: ReactNode }) => (
  <div className="sheet">
    <div className="sheet-part whole">{children}</div>
  </div>
);
