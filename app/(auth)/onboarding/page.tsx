import { requireCaller } from "#app/session.ts";
import type { SearchParams } from "#app/search-params.ts";
import { FirstSteps } from "#components/identity/first-steps.tsx";
import { OnboardingForm } from "#components/identity/onboarding-form.tsx";
import { SignOut } from "#components/identity/sign-out.tsx";
import { Brand } from "#components/shell/brand.tsx";
import { EnvironmentBanner } from "#components/shell/environment-banner.tsx";
import { env } from "#lib/env.ts";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";
import { viewSession } from "#lib/identity/get-session.ts";

export const metadata = { title: "Set up your organization" };

const sandbox = " You start in the sandbox, where no real money moves.";

export default async function OnboardingPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const { ENVIRONMENT, BASE_URL } = env();
  const query = await searchParams;
  const token = query["invitationToken"];
  const invitation = typeof token === "string" && token !== "" ? { invitationToken: token } : {};
  const invited = "invitationToken" in invitation;
  const path = returnTo(query["returnTo"]);
  // Whoever founds an organization has its first steps to do; whoever joins one finds it at work.
  const next = path === "/" && !invited ? "/get-started" : path;
  const caller = await requireCaller(withReturnTo("/onboarding", path, invitation));
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
          <h1>{invited ? "Join the organization" : "Set up your organization"}</h1>
          <p className="intro">
            {invited
              ? "You were invited. Its mandates, keys and payments are the organization's; your role says what you may do."
              : `Mandates, keys and payments belong to it. You can invite others afterwards.${ENVIRONMENT === "sandbox" ? sandbox : ""}`}
          </p>
          <div className="start-grid">
            <OnboardingForm host={new URL(BASE_URL).host} returnTo={next} {...invitation} />
            <FirstSteps email={user.email} invited={invited} />
          </div>
        </main>
      </div>
    </>
  );
}
