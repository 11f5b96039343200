import { redirect } from "next/navigation";
import { Entrance, waysIn } from "#app/entrance.tsx";
import { readCaller } from "#app/session.ts";
import { oneOf, type SearchParams } from "#app/search-params.ts";
import { SignUpForm } from "#components/identity/sign-up-form.tsx";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";
import { requiresVerifiedEmail } from "#lib/identity/sessions/auth-methods.ts";

export const metadata = { title: "Create an account" };

/** Sends a new person to onboarding first, unless `path` is an invitation. */
const nextOf = (path: string): string =>
  path.startsWith("/onboarding") || path.startsWith("/invitations/") ? path : withReturnTo("/onboarding", path);

export default async function SignUpPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const query = await searchParams;
  const path = returnTo(query["returnTo"]);
  if (await readCaller()) redirect(path);
  const email = oneOf(query["email"]);
  return (
    <Entrance title="Create an account">
      {path.startsWith("/invitations/") && <p className="text-muted">Then you come back to the invitation.</p>}
      <SignUpForm
        {...waysIn()}
        returnTo={nextOf(path)}
        confirms={requiresVerifiedEmail()}
        {...(email !== undefined && { email })}
      />
      <p className="text-sm text-muted">
        Have an account? <a href={withReturnTo("/sign-in", path)}>Sign in</a>
      </p>
    </Entrance>
  );
}
