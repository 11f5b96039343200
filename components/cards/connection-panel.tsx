import Link from "next/link";
import { Badge } from "#components/ui/badge.tsx";
import { Code } from "#components/ui/code.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { Card, CardConnection } from "#lib/cards/contract.ts";
import type { CardsView } from "#lib/pages/settings/view-cards.ts";
import { ConnectionActions } from "./connection-actions.tsx";
import { RemoveCard, SetCard } from "./set-card.tsx";

const events = ["issuing_authorization.created", "issuing_authorization.updated", "issuing_transaction.created"] as const;

const AtStripe = ({ webhookUrl, isNew }: Pick<CardConnection, "webhookUrl"> & { readonly isNew: boolean }) => (
  <details open={isNew} className="panel-body border-b">
    <summary>What to set at Stripe</summary>
    <div className="grid grid-cols-1 gap-4 pt-4">
      <Code label="Address of the endpoint" text={webhookUrl} />
      <Pairs
        items={[
          ["Decides about", <code key="decides">issuing_authorization.request</code>],
          [
            "Is told of",
            <ul key="events">
              {events.map((event) => (
                <li key={event}>
                  <code>{event}</code>
                </li>
              ))}
            </ul>,
          ],
          ["On timeout", <strong key="timeout">decline</strong>],
          ["On error", <strong key="error">decline</strong>],
        ]}
      />
      <p className="text-sm text-muted">
        Make this endpoint the one for real-time authorizations. If Stripe approves on a timeout or an error, a card can pay what
        no mandate allowed.
      </p>
    </div>
  </details>
);

type Props = CardsView & { readonly connection: CardConnection; readonly manages: boolean };

const columnsOf = ({ names, closed }: Props) => [
  {
    name: "Card",
    cell: ({ name, cardId }: Card) => (
      <>
        <Untrusted>{name}</Untrusted>
        <span className="sub">
          <Copyable value={cardId} label="card id at Stripe" />
        </span>
      </>
    ),
  },
  {
    name: "Mandate",
    cell: ({ mandateId }: Card) => (
      <>
        <Link href={`/mandates/${mandateId}`}>
          <Untrusted>{names[mandateId] ?? mandateId}</Untrusted>
        </Link>
        {closed.includes(mandateId) && (
          <span className="sub">
            <Badge tone="caution" icon="warning">
              Admits no cards
            </Badge>
          </span>
        )}
      </>
    ),
  },
  {
    name: "Agent",
    cell: ({ serviceAccountId }: Card) => (
      <Link href={`/settings/keys/${serviceAccountId}`}>
        <Untrusted>{names[serviceAccountId] ?? serviceAccountId}</Untrusted>
      </Link>
    ),
  },
];

export function ConnectionPanel(props: Props) {
  const { connection, manages, mandates, agents } = props;
  const { connectionId, name, cards, webhookUrl } = connection;
  const choices = { connectionId, mandates, agents };
  const maySet = manages && mandates.length > 0 && agents.length > 0;
  const actions = {
    name: "Actions",
    actions: true,
    cell: (card: Card) => (
      <span className="actions">
        {maySet && <SetCard {...choices} card={card} />}
        <RemoveCard connectionId={connectionId} card={card} />
      </span>
    ),
  };
  return (
    <Panel
      id={connectionId}
      title={
        <span className="wrap-anywhere">
          <Untrusted>{name}</Untrusted>
        </span>
      }
      note={cards.length}
    >
      <AtStripe webhookUrl={webhookUrl} isNew={cards.length === 0} />
      {cards.length === 0 ? (
        <Empty title="No cards yet">A card that is not here is declined.</Empty>
      ) : (
        <Ledger
          caption={`Cards of ${name}`}
          rows={cards}
          rowKey={({ cardId }) => cardId}
          columns={[...columnsOf(props), ...(manages ? [actions] : [])]}
        />
      )}
      {manages && (
        <div className="panel-foot">
          <div className="actions">
            {maySet && <SetCard key={cards.length} {...choices} card={null} />}
            <ConnectionActions {...connection} />
          </div>
        </div>
      )}
    </Panel>
  );
}
