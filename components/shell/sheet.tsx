import type { ReactNode } from "react";

/** A document on one sheet, without the toothed line that divides a checkout. */
export const Sheet = ({ children }: { readonly children: ReactNode }) => (
  <div className="sheet">
    <div className="sheet-part whole">{children}</div>
  </div>
);
