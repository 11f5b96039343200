import { redirect } from "next/navigation";
import { readCaller } from "#app/session.ts";
import type { SearchParams } from "#app/search-params.ts";
import { Gate } from "#components/identity/gate.tsx";
import { SignUpForm } from "#components/identity/sign-up-form.tsx";
import { env } from "#lib/env.ts";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";

export const metadata = { title: "Create an account" };

export default async function SignUpPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const { ENVIRONMENT, BASE_URL } = env();
  const path = returnTo((await searchParams)["returnTo"]);
  if (await readCaller()) redirect(path);
  // An address that leads to onboarding already, such as an invitation's, is not wrapped again.
  const next = path.startsWith("/onboarding") ? path : withReturnTo("/onboarding", path);
  return (
    <Gate environment={ENVIRONMENT} host={new URL(BASE_URL).host} title="Create an account">
      <SignUpForm returnTo={next} />
      <p className="small muted">
        Have an account? <a href={withReturnTo("/sign-in", path)}>Sign in</a>
      </p>
    </Gate>
  );
}
