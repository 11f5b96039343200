import { Copyable } from "#components/ui/copyable.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { UnknownLine } from "#lib/pages/admin/view-health.ts";
import { Recheck } from "./recheck.tsx";

const At = ({ at }: { readonly at: string | null }) => (at === null ? null : <Moment at={at} show="short" />);

export const UnknownLedger = ({ unknown, mayAsk }: { readonly unknown: readonly UnknownLine[]; readonly mayAsk: boolean }) => (
  <Ledger
    caption="Executions with an unknown outcome, the oldest first"
    rows={unknown}
    rowKey={({ executionId }) => executionId}
    columns={[
      {
        name: "Execution",
        cell: ({ executionId, organizationName }) => (
          <>
            <Copyable value={executionId} label="execution id" head={8} />
            <span className="sub">
              <Untrusted>{organizationName}</Untrusted>
            </span>
          </>
        ),
      },
      { name: "Amount", cell: ({ amount, asset }) => <Money>{money(amount, asset)}</Money>, numeric: true },
      { name: "Since", cell: ({ createdAt }) => <Moment at={createdAt} show="short" /> },
      {
        name: "Seen last",
        cell: ({ failureDetail, settlementReference }) => (
          <>
            {failureDetail ?? "No answer"}
            {settlementReference !== null && (
              <span className="sub">
                <Copyable value={settlementReference} label="transaction hash" />
              </span>
            )}
          </>
        ),
      },
      {
        name: "Asked",
        cell: ({ attempts, nextCheckAt }) => (
          <>
            {attempts} {attempts === 1 ? "time" : "times"}
            <span className="sub">
              next <At at={nextCheckAt} />
            </span>
          </>
        ),
      },
      { name: "Decided by", cell: ({ validBefore }) => <At at={validBefore} /> },
      ...(mayAsk
        ? [{ name: "Actions", actions: true, cell: ({ executionId }: UnknownLine) => <Recheck executionId={executionId} /> }]
        : []),
    ]}
  />
);
