import { Badge } from "#components/ui/badge.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import type { SessionView } from "#lib/pages/settings/view-security.ts";
import { EndOtherSessions, EndSession } from "./session-actions.tsx";
import { wayName } from "./ways-words.ts";

const Device = ({ device, address, current }: SessionView) => (
  <>
    {device}
    {current && (
      <>
        {" "}
        <Badge icon="info">This one</Badge>
      </>
    )}
    {address !== null && <span className="sub">{address}</span>}
  </>
);

export const SessionsPanel = ({ sessions }: { readonly sessions: readonly SessionView[] }) => (
  <section className="panel" aria-labelledby="sessions">
    <div className="panel-head">
      <h2 id="sessions">Sessions</h2>
      {sessions.length > 1 && <EndOtherSessions />}
    </div>
    <Ledger
      caption="Where you are signed in"
      rows={sessions}
      rowKey={({ sessionId }) => sessionId}
      columns={[
        { name: "Device", cell: Device },
        { name: "Signed in with", cell: ({ provider }) => wayName(provider) },
        { name: "Since", cell: ({ createdAt }) => <Moment at={createdAt} show="short" /> },
        { name: "Last used", cell: ({ current, lastUsedAt }) => (current ? "Now" : <Moment at={lastUsedAt} show="ago" />) },
        {
          name: "Actions",
          actions: true,
          cell: ({ current, sessionId, device }) => (current ? null : <EndSession sessionId={sessionId} device={device} />),
        },
      ]}
    />
  </section>
);
