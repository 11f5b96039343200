import Link from "next/link";
import { requireMember } from "#app/session.ts";
import { ConnectCards } from "#components/cards/connect-cards.tsx";
import { ConnectionPanel } from "#components/cards/connection-panel.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { NoAccess } from "#components/ui/no-access.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { viewCards, type CardsView } from "#lib/pages/settings/view-cards.ts";

export const metadata = { title: "Cards" };

const PATH = "/settings/cards";

/** What is missing before a card can be added. */
function Missing({ mandates, agents }: Pick<CardsView, "mandates" | "agents">) {
  if (mandates.length === 0)
    return (
      <Notice>
        No mandate admits payments by card yet. <Link href="/mandates/new">Write a mandate</Link> with limits in USD or EUR and
        choose “Payments by card”, or add it to one that has such limits.
      </Notice>
    );
  return agents.length === 0 ? (
    <Notice>
      A card pays for an agent, and there is none yet. <Link href="/settings/keys">Make one</Link> first.
    </Notice>
  ) : null;
}

export default async function CardsPage() {
  const caller = await requireMember(PATH);
  if (!caller.capabilities.has("mandates:read")) {
    return (
      <>
        <PageHeader title="Cards" />
        <NoAccess title="Your role does not show cards">Ask an owner or admin for another role.</NoAccess>
      </>
    );
  }
  const view = await viewCards(caller);
  const manages = caller.capabilities.has("mandates:create");
  return (
    <>
      <PageHeader
        title="Cards"
        description="Cards of Stripe Issuing pay under your mandates: Stripe asks before a card pays, and the mandate of the card answers."
        actions={manages && <ConnectCards address={view.address} />}
      />
      <div className="stack">
        {manages && view.connections.length > 0 && <Missing {...view} />}
        {view.connections.length === 0 ? (
          <Panel id="none" title="Connected Stripe accounts" note={0}>
            <Empty title="No Stripe account is connected">
              {manages
                ? "Connect the account whose cards your agents use. It takes the signing secret of an endpoint at Stripe, and no API key."
                : "An owner or admin can connect one."}
            </Empty>
          </Panel>
        ) : (
          view.connections.map((connection) => (
            <ConnectionPanel key={connection.connectionId} {...view} connection={connection} manages={manages} />
          ))
        )}
      </div>
    </>
  );
}
