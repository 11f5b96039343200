import { requireCaller } from "#app/session.ts";
import type { SearchParams } from "#app/search-params.ts";
import { ChangePassword } from "#components/security/change-password.tsx";
import { DevicesPanel } from "#components/security/devices-panel.tsx";
import { NoticesForm } from "#components/security/notices-form.tsx";
import { PasskeysPanel } from "#components/security/passkeys-panel.tsx";
import { SessionsPanel } from "#components/security/sessions-panel.tsx";
import { wayName } from "#components/security/ways-words.ts";
import { Notice } from "#components/ui/notice.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { returnTo } from "#lib/http/return-to.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { timeZones } from "#lib/pages/time-zones.ts";
import { viewNotices, viewSecurity, type SecurityView } from "#lib/pages/settings/view-security.ts";

export const metadata = { title: "Security" };

const Ways = ({ view, session }: { readonly view: SecurityView; readonly session: Session }) => {
  const { user, authMethods } = session;
  const ways = [
    ["E-mail", user.email] as const,
    ...view.otherWays.map((way) => [wayName(way), "Connected"] as const),
    ...(authMethods.magicLink ? [["Link by e-mail", "To your address, whenever you ask for one"] as const] : []),
    ...(view.passkeys.length > 0 ? [["Passkeys", String(view.passkeys.length)] as const] : []),
  ];
  return (
    <Panel id="ways" title="How you sign in">
      <div className="panel-body">
        <Pairs items={ways} />
      </div>
    </Panel>
  );
};

export default async function SecurityPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const caller = await requireCaller("/settings/security");
  const back = returnTo((await searchParams)["returnTo"], "");
  const [view, session, notices] = await Promise.all([viewSecurity(caller), viewSession(caller.sessionId), viewNotices(caller)]);
  return (
    <>
      <PageHeader
        title="Security"
        description="How you sign in, and where you are signed in. These settings are the same in every organization."
      />
      <div className="stack">
        {back.startsWith("/checkout/") && (
          <Notice>
            <p>
              A payment waits for your approval with a passkey.{" "}
              {view.passkeys.length > 0 ? <a href={back}>Go back to the payment</a> : "Add one here, then go back to it."}
            </p>
          </Notice>
        )}
        {view.passkeysOffered && <PasskeysPanel view={view} />}
        <SessionsPanel sessions={view.sessions} />
        {view.hasPassword && (
          <Panel id="password" title="Password">
            <div className="panel-body">
              <ChangePassword email={session.user.email} />
            </div>
          </Panel>
        )}
        <Panel id="notices" title="Requests that wait">
          <div className="panel-body">
            <NoticesForm settings={notices} zones={timeZones()} />
          </div>
        </Panel>
        <DevicesPanel {...notices} />
        <Ways view={view} session={session} />
      </div>
    </>
  );
}
