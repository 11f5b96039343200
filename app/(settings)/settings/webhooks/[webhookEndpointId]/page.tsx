import { foundIfAllowed } from "#app/found.ts";
import { requireMember } from "#app/session.ts";
import type { SearchParams } from "#app/search-params.ts";
import { Code } from "#components/ui/code.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Empty } from "#components/ui/empty.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { one } from "#components/ui/page-query.ts";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pager } from "#components/ui/pager.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { visible } from "#lib/visible-text.ts";
import { EndpointActions } from "#components/webhooks/endpoint-actions.tsx";
import { answerWords } from "#components/webhooks/answer-words.ts";
import { eventsText } from "#components/webhooks/event-choices.ts";
import { Resend } from "#components/webhooks/resend.tsx";
import { DeliveryState, EndpointState } from "#components/webhooks/state.tsx";
import { viewWebhook, type WebhookView } from "#lib/pages/settings/view-webhooks.ts";
import type { WebhookDelivery, WebhookEndpoint } from "#lib/webhooks/contract.ts";

export const metadata = { title: "Webhook endpoint" };

type Params = Promise<{ readonly webhookEndpointId: string }>;

const at = (moment: string | undefined, none: string) => (moment === undefined ? none : <Moment at={moment} />);

const factsOf = (endpoint: WebhookEndpoint) => [
  ["Id", <Copyable key="id" value={endpoint.webhookEndpointId} label="webhook endpoint id" />] as const,
  ["State", <EndpointState key="state" status={endpoint.status} />] as const,
  ["Events", eventsText(endpoint.eventTypes)] as const,
  ["Messages", endpoint.full ? "Whole events" : "Ids, status and amount"] as const,
  ["Public key", <Copyable key="public" value={endpoint.publicKey} label="public key" />] as const,
  ["Last success", at(endpoint.lastSuccessAt, "Never")] as const,
  ...(endpoint.failingSince === undefined ? [] : [["Fails since", at(endpoint.failingSince, "")] as const]),
  ...(endpoint.previousSecretUntil === undefined ? [] : [["Old secret until", at(endpoint.previousSecretUntil, "")] as const]),
  ["Added", at(endpoint.createdAt, "")] as const,
];

const Exchange = ({ delivery }: { readonly delivery: WebhookDelivery }) => (
  <Panel id="exchange" title={delivery.type} aside={<DeliveryState status={delivery.status} />}>
    <div className="panel-body grid grid-cols-1 gap-4">
      {delivery.event ? (
        <Code label="Payload" text={JSON.stringify(delivery.event, null, 2)} />
      ) : (
        <p className="text-sm text-muted">The event of this message can no longer be read.</p>
      )}
      {delivery.responseBody !== undefined && <Code label="Answer, its first 512 bytes" text={visible(delivery.responseBody)} />}
      <Pairs
        items={[
          ["webhook-id", <Copyable key="id" value={delivery.eventId} label="event id" />],
          ["Answer", answerWords(delivery) || "None yet"],
          ["Attempts", String(delivery.attempts)],
          ["Last attempt", at(delivery.lastAttemptAt, "None yet")],
          ["Next attempt", at(delivery.nextAttemptAt, "None is planned")],
        ]}
      />
    </div>
  </Panel>
);

type DeliveriesProps = { readonly view: WebhookView; readonly path: string; readonly query: Awaited<SearchParams> };

const Deliveries = ({ view: { endpoint, deliveries, nextCursor }, path, query }: DeliveriesProps) => {
  const cursor = one(query, "cursor");
  const hrefOf = (id: string) =>
    `${path}?${new URLSearchParams({ ...(cursor !== undefined && { cursor }), delivery: id })}#exchange`;
  const id = endpoint.webhookEndpointId;
  const resends = endpoint.status === "enabled";
  const actions = {
    name: "Actions",
    actions: true,
    cell: ({ webhookDeliveryId, attempts }: WebhookDelivery) =>
      attempts > 0 && <Resend webhookEndpointId={id} webhookDeliveryId={webhookDeliveryId} />,
  };
  return (
    <Panel
      id="deliveries"
      title="Deliveries"
      aside={
        resends &&
        deliveries.some(({ error }) => error !== undefined) && <Resend webhookEndpointId={id} webhookDeliveryId={null} />
      }
    >
      {deliveries.length === 0 ? (
        <Empty title="Nothing was sent yet">Each event that this endpoint wants is listed here once it was tried.</Empty>
      ) : (
        <Ledger
          caption="Deliveries"
          rows={deliveries}
          rowKey={(delivery) => delivery.webhookDeliveryId}
          href={(delivery) => hrefOf(delivery.webhookDeliveryId)}
          columns={[
            { name: "Event", cell: ({ type }) => type },
            { name: "Time", cell: ({ createdAt }) => <Moment at={createdAt} show="short" /> },
            { name: "Answer", cell: answerWords },
            {
              name: "Next attempt",
              cell: ({ nextAttemptAt }) => (nextAttemptAt === undefined ? null : <Moment at={nextAttemptAt} show="short" />),
            },
            { name: "Attempts", cell: ({ attempts }) => String(attempts), numeric: true },
            { name: "State", cell: ({ status }) => <DeliveryState status={status} /> },
            ...(resends ? [actions] : []),
          ]}
        />
      )}
      <div className="panel-foot">
        <span>Kept for 30 days.</span>
        <Pager path={path} query={query} nextCursor={nextCursor} />
      </div>
    </Panel>
  );
};

type Props = { readonly params: Params; readonly searchParams: SearchParams };

export default async function WebhookPage({ params, searchParams }: Props) {
  const { webhookEndpointId } = await params;
  const path = `/settings/webhooks/${encodeURIComponent(webhookEndpointId)}`;
  const caller = await requireMember(path);
  const query = await searchParams;
  const shown = await foundIfAllowed(viewWebhook(caller, webhookEndpointId, one(query, "cursor")));
  const { endpoint, deliveries } = shown;
  const chosen = deliveries.find((delivery) => delivery.webhookDeliveryId === one(query, "delivery"));
  return (
    <>
      <PageHeader
        back={{ href: "/settings/webhooks", label: "Webhooks" }}
        title={<Untrusted>{endpoint.url}</Untrusted>}
        actions={<EndpointActions webhookEndpointId={webhookEndpointId} status={endpoint.status} />}
      />
      <div className="stack">
        {endpoint.disabledReason !== undefined && (
          <Notice tone="danger">
            <strong>Nothing is sent to this endpoint.</strong> {endpoint.disabledReason} Events wait until you enable it again.
          </Notice>
        )}
        {chosen && <Exchange delivery={chosen} />}
        <Deliveries view={shown} path={path} query={query} />
        <Panel id="facts" title="Endpoint">
          <div className="panel-body">
            <Pairs items={factsOf(endpoint)} />
          </div>
        </Panel>
      </div>
    </>
  );
}
