import Link from "next/link";
import { Copyable } from "#components/ui/copyable.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import type { AlarmLine } from "#lib/pages/admin/view-health.ts";

const names: Readonly<Record<string, string>> = { platform: "The platform’s own", checkpoints: "The chain of checkpoints" };
const nameOf = (chain: string) => names[chain] ?? <span className="mono">{chain}</span>;

export const AlarmsLedger = ({ alarms }: { readonly alarms: readonly AlarmLine[] }) => (
  <Ledger
    caption="Audit chains that differ from their signed checkpoints"
    rows={alarms}
    rowKey={({ chain }) => chain}
    columns={[
      {
        name: "Chain",
        cell: ({ chain }) => <Link href={`/admin/audit?chain=${encodeURIComponent(chain)}`}>{nameOf(chain)}</Link>,
      },
      { name: "What was found", cell: ({ sequence, detail }) => `Event ${sequence}: ${detail}` },
      {
        name: "Signed last",
        cell: ({ signedSequence, signedHash }) => (
          <>
            Event {signedSequence}
            <span className="sub">
              <Copyable value={signedHash} label="signed hash" head={8} tail={8} />
            </span>
          </>
        ),
      },
      { name: "Since", cell: ({ raisedAt }) => <Moment at={raisedAt} show="short" /> },
    ]}
  />
);
