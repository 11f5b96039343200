import { Empty } from "#components/ui/empty.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import { Moment } from "#components/ui/moment.tsx";
import type { SecurityView } from "#lib/pages/settings/view-security.ts";
import { AddPasskey } from "./add-passkey.tsx";
import { PasskeyActions } from "./passkey-actions.tsx";

/** Empty if the device is unknown or another passkey has its name. */
function suggestionOf({ sessions, passkeys }: SecurityView): string {
  const device = sessions.find(({ current }) => current)?.device ?? "";
  return device === "Unknown device" || passkeys.some(({ name }) => name === device) ? "" : device;
}

export function PasskeysPanel({ view }: { readonly view: SecurityView }) {
  const { passkeys, otherWays } = view;
  const last = passkeys.length === 1 && otherWays.length === 0;
  const add = (primary: boolean) => <AddPasskey suggestion={suggestionOf(view)} primary={primary} />;
  return (
    <section className="panel" aria-labelledby="passkeys">
      <div className="panel-head">
        <h2 id="passkeys">Passkeys</h2>
        {passkeys.length > 0 && add(false)}
      </div>
      {passkeys.length === 0 ? (
        <Empty title="No passkeys yet" action={add(true)}>
          A passkey signs you in without a password, and approves payments that ask for more than a session.
        </Empty>
      ) : (
        <Ledger
          caption="Your passkeys"
          rows={passkeys}
          rowKey={({ passkeyId }) => passkeyId}
          columns={[
            {
              name: "Name",
              cell: ({ name, synced }) => (
                <>
                  {name}
                  <span className="sub">{synced ? "Synced by its maker" : "Only on one device"}</span>
                </>
              ),
            },
            { name: "Added", cell: ({ createdAt }) => <Moment at={createdAt} show="date" /> },
            {
              name: "Last used",
              cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? "Never" : <Moment at={lastUsedAt} show="ago" />),
            },
            { name: "Actions", actions: true, cell: (passkey) => <PasskeyActions passkey={passkey} last={last} /> },
          ]}
        />
      )}
    </section>
  );
}
