import Link from "next/link";
import { Badge } from "#components/ui/badge.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { AccountView } from "#lib/identity/keys/service-account-view.ts";
import { lackedOf } from "#lib/identity/capabilities.ts";
import type { Capability } from "#lib/vocabulary.ts";
import { ageText } from "./age-text.ts";
import { mayText } from "./capability-words.ts";
import { LastUsed } from "./last-used.tsx";
import { RevokeServiceAccount } from "./revoke-service-account.tsx";
import { RotateKey } from "./rotate-key.tsx";

type Props = {
  readonly accounts: readonly AccountView[];
  /** The reader's capabilities. */
  readonly held: ReadonlySet<Capability>;
  readonly caption: string;
};

/** A key shortened to its kind, the first and the last characters: csk_sandbox_7h3n…w4qz. */
export const Preview = ({ children }: { readonly children: string }) => (
  <code className="whitespace-nowrap" title={children}>
    {children.replace(/^(csk_[a-z]+_.{4}).*_?…/, "$1…")}
  </code>
);

export function AccountState({ account }: { readonly account: AccountView }) {
  if (account.revokedAt !== undefined) return <StatusBadge of="key" status="revoked" />;
  if (account.pausedAt !== undefined)
    return (
      <Badge tone="caution" icon="pause">
        Paused
      </Badge>
    );
  if (account.liveKeys > 1)
    return (
      <Badge tone="caution" icon="clock">
        Two keys
      </Badge>
    );
  if (account.lastUse === undefined) return <Badge icon="info">Unused</Badge>;
  return <StatusBadge of="key" status="active" />;
}

export function AccountsLedger({ accounts, held, caption }: Props) {
  const manages = held.has("serviceAccounts:manage") && accounts.some(({ revokedAt }) => revokedAt === undefined);
  const actions = {
    name: "Actions",
    actions: true,
    cell: ({ serviceAccountId, name, capabilities, revokedAt }: AccountView) =>
      revokedAt === undefined && (
        <span className="actions">
          {lackedOf(capabilities, held).length === 0 && <RotateKey serviceAccountId={serviceAccountId} name={name} />}
          <RevokeServiceAccount serviceAccountId={serviceAccountId} name={name} />
        </span>
      ),
  };
  return (
    <Ledger
      caption={caption}
      rows={accounts}
      rowKey={(account) => account.serviceAccountId}
      columns={[
        {
          name: "Name",
          cell: ({ name, serviceAccountId }) => (
            <>
              <Link className="inline-block min-h-6" href={`/settings/keys/${serviceAccountId}`}>
                <Untrusted>{name}</Untrusted>
              </Link>
              <span className="sub">
                <Copyable value={serviceAccountId} label="service account id" />
              </span>
            </>
          ),
        },
        { name: "Key", cell: ({ keyPreview }) => <Preview>{keyPreview}</Preview> },
        { name: "May", cell: ({ capabilities }) => mayText(capabilities) },
        { name: "Last used", cell: ({ lastUse }) => <LastUsed use={lastUse} /> },
        { name: "Key age", cell: ({ keyAgeDays }) => ageText(keyAgeDays) },
        { name: "State", cell: (account) => <AccountState account={account} /> },
        ...(manages ? [actions] : []),
      ]}
    />
  );
}
