import { Entrance } from "#app/entrance.tsx";
import { requireCaller } from "#app/session.ts";
import { ClaimForm } from "#components/identity/claim-form.tsx";
import { awaitsFirstAdmin } from "#lib/installation/setup-code.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";

export const metadata = { title: "Become the first platform admin" };

export default async function ClaimPage() {
  const { sessionId } = await requireCaller("/claim");
  const { user } = await viewSession(sessionId);
  return (
    <Entrance title="Become the first platform admin">
      {(await awaitsFirstAdmin()) ? (
        <>
          <p className="text-muted">
            The service printed a one-time code at its first start. With it, {user.email} administers the whole platform.
          </p>
          <ClaimForm />
          <p className="text-sm text-muted">
            Lost the code? <code>countersign-server setup-code</code>, or <code>npm run setup-code</code> in a clone, prints a new
            one.
          </p>
        </>
      ) : (
        <>
          <p className="text-muted">This platform has its first admin already. An admin can give you the role.</p>
          <p className="text-sm text-muted">
            <a href="/">Go to your overview</a>
          </p>
        </>
      )}
    </Entrance>
  );
}
