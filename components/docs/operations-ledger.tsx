import { Ledger } from "#components/ui/ledger.tsx";
import type { Chapter } from "#lib/pages/docs/reference.ts";

export const OperationsLedger = ({ tag, operations }: Pick<Chapter, "tag" | "operations">) => (
  <Ledger
    caption={`Operations: ${tag}`}
    columns={[
      { name: "Operation", cell: ({ id }) => <span className="whitespace-nowrap">{id}</span> },
      { name: "Request", cell: ({ method, path }) => <code>{`${method} ${path}`}</code> },
      { name: "What it does", cell: ({ summary }) => summary },
    ]}
    rows={operations}
    rowKey={({ id }) => id}
    href={({ id }) => `/docs/${id}`}
  />
);
