import { Badge } from "#components/ui/badge.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import type { KeyView } from "#lib/identity/keys/service-account-view.ts";
import { Preview } from "./accounts-ledger.tsx";
import { LastUsed } from "./last-used.tsx";

const State = ({ status, endsAt }: KeyView) =>
  status === "active" && endsAt !== undefined ? (
    <Badge tone="caution" icon="clock">
      Ends soon
    </Badge>
  ) : (
    <StatusBadge of="key" status={status} />
  );

export const KeysLedger = ({ keys }: { readonly keys: readonly KeyView[] }) => (
  <Ledger
    caption="Keys of this service account"
    rows={keys}
    rowKey={(key) => key.keyId}
    columns={[
      { name: "Key", cell: ({ preview }) => <Preview>{preview}</Preview> },
      { name: "Made", cell: ({ createdAt }) => <Moment at={createdAt} show="date" /> },
      { name: "Last used", cell: ({ lastUse }) => <LastUsed use={lastUse} /> },
      { name: "Works until", cell: ({ endsAt }) => (endsAt === undefined ? "No end" : <Moment at={endsAt} show="minute" />) },
      { name: "State", cell: State },
    ]}
  />
);
