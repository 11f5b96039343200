import { redirect } from "next/navigation";
import { Entrance, waysIn } from "#app/entrance.tsx";
import { readCaller } from "#app/session.ts";
import { oneOf, type SearchParams } from "#app/search-params.ts";
import { PasskeySignIn } from "#components/identity/passkey-sign-in.tsx";
import { SignInForm } from "#components/identity/sign-in-form.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";

export const metadata = { title: "Sign in" };

const refusals: Readonly<Record<string, string>> = {
  access_denied: "You did not finish at the other service. Nothing happened.",
  account_not_linked:
    "There is an account with this address that was not made this way, and its address is not confirmed. Sign in to it as before.",
  email_not_verified: "Confirm your e-mail address first: open the link in the mail that we sent. Then come back.",
  email_not_found: "The other service did not tell us your e-mail address. Allow it there, or sign in another way.",
};

const refusalOf = (code: string | undefined): string | undefined =>
  code === undefined
    ? undefined
    : (refusals[code] ?? "Signing in by the other service did not work. Nothing happened. Try again.");

export default async function SignInPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const query = await searchParams;
  const path = returnTo(query["returnTo"]);
  if (await readCaller()) redirect(path);
  const refusal = refusalOf(oneOf(query["error"]));
  const email = oneOf(query["email"]);
  const ways = waysIn();
  return (
    <Entrance title="Sign in">
      {path.startsWith("/checkout/") && <p className="text-muted">Then you come back to the payment that waits for you.</p>}
      {path.startsWith("/invitations/") && <p className="text-muted">Then you come back to the invitation.</p>}
      {query["done"] === "password" && (
        <Notice tone="positive">
          <p>The password is set. Sign in with it.</p>
        </Notice>
      )}
      {refusal !== undefined && (
        <Notice tone="danger" role="alert">
          <p>{refusal}</p>
        </Notice>
      )}
      {ways.methods.passkey && <PasskeySignIn returnTo={path} />}
      <SignInForm {...ways} returnTo={path} {...(email !== undefined && { email })} />
      <p className="text-sm text-muted">
        New here? <a href={withReturnTo("/sign-up", path)}>Create an account</a>
      </p>
    </Entrance>
  );
}
