import { requireMember } from "#app/session.ts";
import { Empty } from "#components/ui/empty.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { NoAccess } from "#components/ui/no-access.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { eventsText } from "#components/webhooks/event-choices.ts";
import { NewEndpoint } from "#components/webhooks/new-endpoint.tsx";
import { EndpointState } from "#components/webhooks/state.tsx";
import { viewWebhooks } from "#lib/pages/settings/view-webhooks.ts";

export const metadata = { title: "Webhooks" };

const PATH = "/settings/webhooks";

export default async function WebhooksPage() {
  const caller = await requireMember(PATH);
  if (!caller.capabilities.has("webhooks:manage")) {
    return (
      <>
        <PageHeader title="Webhooks" />
        <NoAccess title="Your role does not show webhooks">
          Owners and admins manage them. Ask an owner or admin for another role.
        </NoAccess>
      </>
    );
  }
  const endpoints = await viewWebhooks(caller);
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Addresses that get a signed message about each event of this organization."
        actions={<NewEndpoint />}
      />
      <Panel id="endpoints" title="Endpoints" note={endpoints.length}>
        {endpoints.length === 0 ? (
          <Empty title="No endpoints yet">Programs can also read the events themselves, with listEvents in the API.</Empty>
        ) : (
          <Ledger
            caption="Webhook endpoints"
            rows={endpoints}
            rowKey={(endpoint) => endpoint.webhookEndpointId}
            href={(endpoint) => `${PATH}/${endpoint.webhookEndpointId}`}
            columns={[
              { name: "Address", cell: ({ url }) => <Untrusted>{url}</Untrusted> },
              { name: "Events", cell: ({ eventTypes }) => eventsText(eventTypes) },
              {
                name: "Last success",
                cell: ({ lastSuccessAt }) => (lastSuccessAt === undefined ? "Never" : <Moment at={lastSuccessAt} show="short" />),
              },
              { name: "State", cell: ({ status }) => <EndpointState status={status} /> },
            ]}
          />
        )}
        <div className="panel-foot">Messages are signed as Standard Webhooks says. At most ten endpoints.</div>
      </Panel>
    </>
  );
}
