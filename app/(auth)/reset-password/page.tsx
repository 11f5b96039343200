import { notFound } from "next/navigation";
import { Entrance, OutboxHint } from "#app/entrance.tsx";
import { oneOf, type SearchParams } from "#app/search-params.ts";
import { Mailbox } from "#components/identity/mailbox.tsx";
import { NewPasswordForm } from "#components/identity/new-password-form.tsx";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";
import { authMethods } from "#lib/identity/sessions/auth-methods.ts";

export const metadata = { title: "Choose a new password" };

export default async function ResetPasswordPage({ searchParams }: { readonly searchParams: SearchParams }) {
  if (!authMethods().magicLink) notFound();
  const query = await searchParams;
  const path = returnTo(query["returnTo"]);
  const token = oneOf(query["token"]);
  return (
    <Entrance title="Choose a new password">
      {token === undefined ? (
        <>
          <p className="text-muted">We send you a link to choose one. Until then the old password works.</p>
          <Mailbox kind="reset" returnTo={path} />
          <OutboxHint />
          <p className="text-sm text-muted">
            <a href={withReturnTo("/sign-in", path)}>Back to sign-in</a>
          </p>
        </>
      ) : (
        <>
          {query["confirmed"] !== undefined && (
            <p className="text-muted">
              The address is yours. Now choose the password: the one from before has ended, because anybody could have typed it
              with your address.
            </p>
          )}
          <NewPasswordForm token={token} returnTo={path} />
        </>
      )}
    </Entrance>
  );
}
