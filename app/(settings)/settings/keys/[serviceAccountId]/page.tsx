import Link from "next/link";
import { foundIfAllowed } from "#app/found.ts";
import { requireMember } from "#app/session.ts";
import { AccountState } from "#components/keys/accounts-ledger.tsx";
import { capabilityWords } from "#components/keys/capability-words.ts";
import { KeysLedger } from "#components/keys/keys-ledger.tsx";
import { RevokeServiceAccount } from "#components/keys/revoke-service-account.tsx";
import { RotateKey } from "#components/keys/rotate-key.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { PauseAgent } from "#components/keys/pause-agent.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { AccountDetail } from "#lib/identity/keys/service-account-view.ts";
import { lackedOf } from "#lib/identity/capabilities.ts";
import { viewServiceAccount } from "#lib/pages/settings/view-service-accounts.ts";

export const metadata = { title: "Service account" };

type Params = Promise<{ readonly serviceAccountId: string }>;

const factsOf = ({ account, createdBy }: AccountDetail) => [
  ["Id", <Copyable key="id" value={account.serviceAccountId} label="service account id" />] as const,
  ["State", <AccountState key="state" account={account} />] as const,
  [
    "Made",
    <span key="made">
      <Moment at={account.createdAt} /> by <Untrusted>{createdBy}</Untrusted>
    </span>,
  ] as const,
  ...(account.pausedAt === undefined ? [] : [["Paused", <Moment key="paused" at={account.pausedAt} />] as const]),
  ...(account.revokedAt === undefined ? [] : [["Revoked", <Moment key="revoked" at={account.revokedAt} />] as const]),
];

const Capabilities = ({ account }: AccountDetail) => (
  <Panel id="may" title="What it may do">
    <div className="panel-body">
      {account.capabilities.length === 0 ? (
        <p className="text-muted text-sm">Nothing: it has no capability.</p>
      ) : (
        <ul className="grid grid-cols-1 gap-x-6 gap-y-3 text-sm md:grid-cols-2">
          {account.capabilities.map((capability) => (
            <li key={capability}>
              {capabilityWords(capability)}
              <code className="block text-xs text-muted">{capability}</code>
            </li>
          ))}
        </ul>
      )}
    </div>
    <div className="panel-foot">Capabilities stay as they are. For others, make another service account.</div>
  </Panel>
);

const openText = ({ account, openMandates }: Pick<AccountDetail, "account" | "openMandates">): string => {
  const chosen = account.mandateIds?.length;
  if (chosen !== undefined)
    return `It may use only the ${chosen} ${chosen === 1 ? "mandate" : "mandates"} chosen when it was connected.`;
  if (openMandates === 0) return "No active mandate is open to every agent.";
  return `${openMandates} active ${openMandates === 1 ? "mandate is" : "mandates are"} open to every agent of the organization.`;
};

const Mandates = ({ account, mandates, openMandates }: AccountDetail) => (
  <Panel id="mandates" title="Mandates that name it">
    <div className="panel-body">
      {mandates.length === 0 ? (
        <p className="text-muted text-sm">No mandate names this account.</p>
      ) : (
        <Pairs
          items={mandates.map(({ mandateId, name, status }) => [
            name,
            <span key={mandateId}>
              <Link href={`/mandates/${mandateId}`}>Open</Link> <StatusBadge of="mandate" status={status} />
            </span>,
          ])}
        />
      )}
    </div>
    <div className="panel-foot">{openText({ account, openMandates })}</div>
  </Panel>
);

export default async function ServiceAccountPage({ params }: { readonly params: Params }) {
  const { serviceAccountId } = await params;
  const caller = await requireMember(`/settings/keys/${encodeURIComponent(serviceAccountId)}`);
  const detail = await foundIfAllowed(viewServiceAccount(caller, serviceAccountId));
  const { account, keys } = detail;
  const lacked = lackedOf(account.capabilities, caller.capabilities);
  const live = account.revokedAt === undefined;
  const pauses = live && caller.capabilities.has("checkouts:approve") && (
    <PauseAgent serviceAccountId={serviceAccountId} paused={account.pausedAt !== undefined} />
  );
  const manages = live && caller.capabilities.has("serviceAccounts:manage") && (
    <>
      {lacked.length === 0 && <RotateKey serviceAccountId={serviceAccountId} name={account.name} />}
      <RevokeServiceAccount serviceAccountId={serviceAccountId} name={account.name} />
    </>
  );
  return (
    <>
      <PageHeader
        back={{ href: "/settings/keys", label: "Agents and keys" }}
        title={<Untrusted>{account.name}</Untrusted>}
        actions={
          <>
            {pauses}
            {manages}
          </>
        }
      />
      <div className="split">
        <div className="stack">
          <Panel id="keys" title="Keys" note={`${keys.filter(({ status }) => status === "active").length} live`}>
            <KeysLedger keys={keys} />
            <div className="panel-foot">Last use is written once a minute.</div>
          </Panel>
          <Capabilities {...detail} />
        </div>
        <div className="stack">
          <Panel id="facts" title="Service account">
            <div className="panel-body">
              <Pairs items={factsOf(detail)} />
            </div>
          </Panel>
          <Mandates {...detail} />
        </div>
      </div>
    </>
  );
}
