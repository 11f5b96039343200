import { notFound } from "next/navigation";
import { Entrance, OutboxHint } from "#app/entrance.tsx";
import { readCaller } from "#app/session.ts";
import { oneOf, type SearchParams } from "#app/search-params.ts";
import { Mailbox } from "#components/identity/mailbox.tsx";
import { OpenLink } from "#components/identity/open-link.tsx";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";
import { authMethods } from "#lib/identity/sessions/auth-methods.ts";

export const metadata = { title: "Confirm your e-mail address" };

export default async function VerifyEmailPage({ searchParams }: { readonly searchParams: SearchParams }) {
  if (!authMethods().magicLink) notFound();
  const query = await searchParams;
  const path = returnTo(query["returnTo"]);
  const [token, to] = [oneOf(query["token"]), oneOf(query["to"])];
  if (token !== undefined) {
    const next = (await readCaller()) ? path : withReturnTo("/sign-in", path);
    return (
      <Entrance title="Confirm your address">
        <p className="text-muted">The link in your mail brought you here.</p>
        <OpenLink kind="verify" token={token} next={next} returnTo={path} again={withReturnTo("/verify-email", path)} />
      </Entrance>
    );
  }
  return (
    <Entrance title={to === undefined ? "Confirm your address" : "Check your mailbox"}>
      <p className="text-muted">Open the link in our mail to confirm that the address is yours. Then sign in.</p>
      <Mailbox kind="verify" returnTo={path} sent={to !== undefined} email={to ?? oneOf(query["email"]) ?? ""} />
      <OutboxHint />
      <p className="text-sm text-muted">
        <a href={withReturnTo("/sign-in", path)}>Sign in</a>
      </p>
    </Entrance>
  );
}
