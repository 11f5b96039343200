import { redirect } from "next/navigation";
import { readCaller } from "#app/session.ts";
import type { SearchParams } from "#app/search-params.ts";
import { Gate } from "#components/identity/gate.tsx";
import { SignInForm } from "#components/identity/sign-in-form.tsx";
import { env } from "#lib/env.ts";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";

export const metadata = { title: "Sign in" };

export default async function SignInPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const { ENVIRONMENT, BASE_URL } = env();
  const path = returnTo((await searchParams)["returnTo"]);
  if (await readCaller()) redirect(path);
  return (
    <Gate environment={ENVIRONMENT} host={new URL(BASE_URL).host} title="Sign in">
      {path.startsWith("/checkout/") && <p className="muted">Then you come back to the payment that waits for you.</p>}
      <SignInForm returnTo={path} />
      <p className="small muted">
        New here? <a href={withReturnTo("/sign-up", path)}>Create an account</a>
      </p>
    </Gate>
  );
}
