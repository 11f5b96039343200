import type { ReactNode } from "react";

type Props = { readonly of: "payments" | "approvals" | "executions"; readonly id: string; readonly children: ReactNode };

/** A link that downloads the signed receipt of a payment, an approval or an execution. */
export const ReceiptLink = ({ of, id, children }: Props) => (
  <a href={`/api/v1/receipts/${of}/${id}`} download={`${id}.json`}>
    {children}
  </a>
);
