import { requireCaller } from "#app/session.ts";
import type { SearchParams } from "#app/search-params.ts";
import { FirstSteps } from "#components/identity/first-steps.tsx";
import { OnboardingForm } from "#components/identity/onboarding-form.tsx";
import { SignOut } from "#components/identity/sign-out.tsx";
import { Brand } from "#components/shell/brand.tsx";
import { EnvironmentBanner } from "#components/shell/environment-banner.tsx";
import { env } from "#lib/env.ts";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";

export const metadata = { title: "Set up your organization" };

const sandbox = " You start in the sandbox, where no real money moves.";

export default async function OnboardingPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const { ENVIRONMENT, BASE_URL } = env();
  const path = returnTo((await searchParams)["returnTo"]);
  // A new organization starts with its first steps.
  const next = path === "/" ? "/get-started" : path;
  const caller = await requireCaller(withReturnTo("/onboarding", path));
  const { user } = await viewSession(caller.sessionId);
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <EnvironmentBanner environment={ENVIRONMENT} />
      <div className="start">
        <header className="start-top">
          <Brand />
          <span className="flex items-center gap-1">
            <span className="who">{user.email}</span>
            <SignOut />
          </span>
        </header>
        <main id="main" tabIndex={-1}>
          <h1>Set up your organization</h1>
          <p className="intro">
            Mandates, keys and payments belong to it. You can invite others afterwards.{ENVIRONMENT === "sandbox" ? sandbox : ""}
          </p>
          <div className="start-grid">
            <OnboardingForm host={new URL(BASE_URL).host} returnTo={next} />
            <FirstSteps email={user.email} />
          </div>
        </main>
      </div>
    </>
  );
}
