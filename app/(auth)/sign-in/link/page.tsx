import { notFound } from "next/navigation";
import { Entrance, OutboxHint } from "#app/entrance.tsx";
import { oneOf, type SearchParams } from "#app/search-params.ts";
import { Mailbox } from "#components/identity/mailbox.tsx";
import { OpenLink } from "#components/identity/open-link.tsx";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";
import { authMethods } from "#lib/identity/sessions/auth-methods.ts";

export const metadata = { title: "Sign in by a link" };

export default async function LinkPage({ searchParams }: { readonly searchParams: SearchParams }) {
  if (!authMethods().magicLink) notFound();
  const query = await searchParams;
  const path = returnTo(query["returnTo"]);
  const [token, to] = [oneOf(query["token"]), oneOf(query["to"])];
  if (token !== undefined) {
    return (
      <Entrance title="Sign in">
        <p className="text-muted">The link in your mail brought you here. It works once, for 15 minutes.</p>
        <OpenLink kind="link" token={token} next={path} returnTo={path} again={withReturnTo("/sign-in/link", path)} />
      </Entrance>
    );
  }
  return (
    <Entrance title={to === undefined ? "Sign in by a link" : "Check your mailbox"}>
      <p className="text-muted">The link signs you in without a password. It works once, for 15 minutes.</p>
      <Mailbox kind="link" returnTo={path} sent={to !== undefined} email={to ?? ""} />
      <OutboxHint />
      <p className="text-sm text-muted">
        <a href={withReturnTo("/sign-in", path)}>Sign in another way</a>
      </p>
    </Entrance>
  );
}
