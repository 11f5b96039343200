import type { ReactNode } from "react";

type Props = { readonly of: "payments" | "approvals" | "executions"; readonly id: string; readonly children: ReactNode };

export const ReceiptLink = ({ of, id, children }: Props) => (
  <a href={`/api/v1/receipts/${of}/${id}`} download={`${id}.json`}>
    {children}
  </a>
);
