import { Badge } from "#components/ui/badge.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import type { NoticesView } from "#lib/pages/settings/view-security.ts";
import type { Device } from "#lib/push/contract.ts";
import { RemoveDevice, ThisDevice } from "./this-device.tsx";

const Name = ({ name, current, details }: Device) => (
  <>
    {name}
    {current && (
      <>
        {" "}
        <Badge icon="info">This one</Badge>
      </>
    )}
    <span className="sub">{details ? "Shows payee and amount" : "Shows neither payee nor amount"}</span>
  </>
);

export const DevicesPanel = ({ applicationServerKey, devices }: NoticesView) => (
  <section className="panel" aria-labelledby="devices">
    <div className="panel-head">
      <h2 id="devices">Messages to your devices</h2>
    </div>
    <div className="panel-body">
      {applicationServerKey === null ? (
        <p className="max-w-[60ch] text-muted">
          This service sends no messages to devices. Whoever runs it can set <code>VAPID_PRIVATE_KEY</code>.
        </p>
      ) : (
        <ThisDevice applicationServerKey={applicationServerKey} device={devices.find(({ current }) => current) ?? null} />
      )}
    </div>
    {devices.length > 0 && (
      <Ledger
        caption="Devices that get messages about requests"
        rows={devices}
        rowKey={({ deviceId }) => deviceId}
        columns={[
          { name: "Device", cell: Name },
          { name: "Since", cell: ({ createdAt }) => <Moment at={createdAt} show="short" /> },
          { name: "Actions", actions: true, cell: (device) => <RemoveDevice device={device} /> },
        ]}
      />
    )}
  </section>
);
