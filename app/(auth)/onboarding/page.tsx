import { requireCaller } from "#app/session.ts";
import type { SearchParams } from "#app/search-params.ts";
import { FirstSteps } from "#components/identity/first-steps.tsx";
import { OnboardingForm } from "#components/identity/onboarding-form.tsx";
import { SignOut } from "#components/identity/sign-out.tsx";
import { Brand } from "#components/shell/brand.tsx";
import { EnvironmentBanner } from "#components/shell/environment-banner.tsx";
import { stepViews } from "#components/start/step-words.ts";
import { env } from "#lib/env.ts";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { stepsToCome } from "#lib/pages/settings/view-progress.ts";

export const metadata = { title: "Set up your organization" };

const sandbox = " You start in the sandbox, where no real money moves.";

export default async function OnboardingPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const { ENVIRONMENT, BASE_URL } = env();
  const path = returnTo((await searchParams)["returnTo"]);
  const next = path === "/" ? "/get-started" : path;
  const caller = await requireCaller(withReturnTo("/onboarding", path));
  const { user } = await viewSession(caller.sessionId);
  const { ids, capabilities } = stepsToCome();
  return (
    <>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <EnvironmentBanner environment={ENVIRONMENT} />
      <div className="mx-auto max-w-280 px-4 pt-4 pb-12 md:px-6 md:pt-6 md:pb-16">
        <header className="flex items-center justify-between gap-4 pb-6 text-sm text-muted md:pb-8">
          <Brand />
          <span className="flex items-center gap-1">
            <span className="max-md:hidden">{user.email}</span>
            <SignOut />
          </span>
        </header>
        <main id="main" tabIndex={-1}>
          <h1 className="text-2xl tracking-display md:text-3xl">Set up your organization</h1>
          <p className="mt-2 mb-6 max-w-[56ch] text-muted">
            Mandates, keys and payments belong to it. You can invite others afterwards.{ENVIRONMENT === "sandbox" ? sandbox : ""}
          </p>
          <div className="grid grid-cols-1 items-start gap-8 lg:grid-cols-[minmax(0,1.3fr)_minmax(0,1fr)]">
            <OnboardingForm host={new URL(BASE_URL).host} returnTo={next} />
            <FirstSteps email={user.email} later={stepViews(ids, capabilities)} />
          </div>
        </main>
      </div>
    </>
  );
}
