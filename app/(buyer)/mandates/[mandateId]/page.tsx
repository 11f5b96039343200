import Link from "next/link";
import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { requireMember } from "#app/session.ts";
import { AlertsPanel } from "#components/mandates/alerts-panel.tsx";
import { assetOf } from "#components/mandates/headline.ts";
import { BurnDownPanel } from "#components/mandates/burn-down-panel.tsx";
import { History } from "#components/mandates/history.tsx";
import { LedgerPanel } from "#components/mandates/ledger-panel.tsx";
import { PlainWords } from "#components/mandates/sentences.tsx";
import { Steps } from "#components/mandates/steps.tsx";
import { UsagePanel } from "#components/mandates/usage-panel.tsx";
import { wordsOf } from "#components/mandates/words-of.ts";
import { OnChainPanel } from "#components/onchain/on-chain-panel.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import { viewAlerts } from "#lib/pages/buyer/view-alerts.ts";
import { viewBurnDown } from "#lib/pages/buyer/view-burn-down.ts";
import { viewMandate } from "#lib/pages/buyer/view-mandate.ts";
import { viewMandateLedger } from "#lib/pages/buyer/view-mandate-ledger.ts";
import { viewOnChain } from "#lib/pages/buyer/view-on-chain.ts";
import { sampleAsset } from "#lib/sandbox/sample-asset.ts";

export const metadata = { title: "Mandate" };

const LIMIT = 20;
const PATH = "/mandates";

type Props = { readonly params: Promise<{ readonly mandateId: string }>; readonly searchParams: SearchParams };

type StandingProps = { readonly mandate: Mandate; readonly manage: boolean; readonly pay: boolean };

/** `pay`: whether the reader may make a test payment. */
function Standing({ mandate: { status, mandateId, usage }, manage, pay }: StandingProps) {
  const edit = manage ? <a href={`${PATH}/${mandateId}/edit`}>Edit the mandate</a> : "An owner or admin can change it";
  if (status === "draft") {
    return (
      <Notice>
        This is a draft. No agent can pay under it until {manage ? "you activate it" : "an owner or admin activates it"}.
      </Notice>
    );
  }
  if (status === "expired") return <Notice tone="caution">It has expired, so every payment is denied. {edit}.</Notice>;
  if (status === "exhausted") return <Notice tone="caution">Its total is used up, so every payment is denied. {edit}.</Notice>;
  if (status === "suspended")
    return <Notice tone="caution">It is paused, so every payment is denied until somebody resumes it.</Notice>;
  const unused = usage.every(({ spent, reserved }) => Number(spent) === 0 && Number(reserved) === 0);
  if (status === "active" && pay && unused)
    return (
      <Notice>
        No agent has paid under it yet. <Link href="/get-started#sample">Next: make a test payment</Link>
      </Notice>
    );
  return null;
}

const Facts = ({ mandate }: { readonly mandate: Mandate }) => (
  <Panel id="facts" title="Details">
    <div className="panel-body">
      <Pairs
        items={[
          ["Mandate id", <Copyable key="id" value={mandate.mandateId} label="mandate id" head={8} />],
          ["Version", String(mandate.version)],
          ...(mandate.wallet
            ? [["Wallet", <Copyable key="wallet" value={mandate.wallet.address} label="wallet address" />] as const]
            : []),
          ["Written", <Moment key="created" at={mandate.createdAt} show="short" />],
          ["Changed", <Moment key="updated" at={mandate.updatedAt} show="short" />],
        ]}
      />
    </div>
  </Panel>
);

export default async function MandatePage({ params, searchParams }: Props) {
  const { mandateId } = await params;
  const query = await searchParams;
  const path = `${PATH}/${encodeURIComponent(mandateId)}`;
  const caller = await requireMember(path);
  const { capabilities } = caller;
  if (!capabilities.has("mandates:read")) {
    return <NotForRole title="Mandate" what="mandates" who="Owners, admins, approvers, developers and viewers" />;
  }
  const { mandate, names, history, rails, effect } = await found(viewMandate(caller, mandateId));
  const ledger = await found(viewMandateLedger(caller, mandateId, { limit: LIMIT, cursor: one(query, "cursor") }));
  const burnDown = await viewBurnDown(mandate);
  const [onChain, thresholds] = await Promise.all([viewOnChain(mandate), viewAlerts(caller, mandateId)]);
  const manage = capabilities.has("mandates:manage");
  return (
    <>
      <PageHeader
        back={{ href: PATH, label: "Mandates" }}
        title={<Untrusted>{mandate.name}</Untrusted>}
        description={
          <>
            <StatusBadge of="mandate" status={mandate.status} /> Version {mandate.version}
            {mandate.status === "revoked" || mandate.status === "draft" ? "" : " is in force"}
          </>
        }
        actions={
          <Steps
            mandateId={mandateId}
            status={mandate.status}
            rights={{ manage, revoke: capabilities.has("mandates:revoke") }}
            effect={effect}
            asset={assetOf(mandate)}
          />
        }
      />
      <div className="stack">
        <Standing mandate={mandate} manage={manage} pay={sampleAsset() !== null && capabilities.has("payments:execute")} />
        <div className="split">
          <div className="stack">
            <Panel id="words" title="In plain words">
              <PlainWords summary={wordsOf(mandate.policy, mandate, names)} />
            </Panel>
            {burnDown && <BurnDownPanel burnDown={burnDown} />}
            {onChain && <OnChainPanel mandate={mandate} view={onChain} manage={manage} />}
          </div>
          <div className="stack">
            <UsagePanel mandate={mandate} rails={rails} />
            <AlertsPanel mandateId={mandateId} thresholds={thresholds} manage={manage} />
            <Facts mandate={mandate} />
            <Panel id="history" title="History">
              <div className="panel-body">
                <History events={history} names={names} />
              </div>
            </Panel>
          </div>
        </div>
        <LedgerPanel page={ledger} path={path} query={query} />
      </div>
    </>
  );
}
