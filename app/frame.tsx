import type { Metadata } from "next";
import { notFound, redirect } from "next/navigation";
import { cache, type ReactNode } from "react";
import { AppShell } from "#components/shell/app-shell.tsx";
import { ChooseOrganization } from "#components/shell/choose-organization.tsx";
import { waitingCount } from "#lib/pages/buyer/view-approvals.ts";
import { env } from "#lib/env.ts";
import { withReturnTo } from "#lib/http/return-to.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { readCaller, requestPath, requireCaller } from "./session.ts";
import { readTheme } from "./theme.ts";

type Props = { readonly children: ReactNode };

/** Security settings belong to the person, so they need no active organization. */
const isPersonal = (path: string): boolean => path.startsWith("/settings/security");

const sessionOf = cache(viewSession);

/** At most 100; 0 without an active organization that buys, or if the reader may not approve. */
const countWaiting = cache(async (sessionId: string): Promise<number> => {
  const { activeOrganization, capabilities } = await sessionOf(sessionId);
  if (!activeOrganization?.productRoles.includes("buyer") || !capabilities.includes("checkouts:approve")) return 0;
  const { organizationId } = activeOrganization;
  return waitingCount({ organizationId, environment: env().ENVIRONMENT });
});

/** The number of requests that wait is in the title, so that it is visible while another tab is open. */
export async function organizationMetadata(): Promise<Metadata> {
  const caller = await readCaller();
  const count = caller ? await countWaiting(caller.sessionId) : 0;
  const suffix = "%s · Countersign";
  return { title: { default: "Countersign", template: count > 0 ? `(${count}) ${suffix}` : suffix } };
}

export async function OrganizationFrame({ children }: Props) {
  const path = await requestPath();
  const caller = await requireCaller(path);
  const session = await sessionOf(caller.sessionId);
  const { ENVIRONMENT } = env();
  if (!session.activeOrganization && !isPersonal(path)) {
    if (session.onboardingRequired) redirect(withReturnTo("/onboarding", path));
    return <ChooseOrganization environment={ENVIRONMENT} organizations={session.organizations} />;
  }
  return (
    <AppShell
      section="organization"
      session={session}
      environment={ENVIRONMENT}
      theme={await readTheme()}
      waiting={{ "/approvals": await countWaiting(caller.sessionId) }}
    >
      {children}
    </AppShell>
  );
}

export async function PlatformFrame({ children }: Props) {
  const caller = await requireCaller(await requestPath());
  if (caller.platformCapabilities.size === 0) notFound();
  const session = await viewSession(caller.sessionId);
  return (
    <AppShell section="platform" session={session} environment={env().ENVIRONMENT} theme={await readTheme()} waiting={{}}>
      {children}
    </AppShell>
  );
}
