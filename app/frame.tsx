import { notFound, redirect } from "next/navigation";
import type { ReactNode } from "react";
import { AppShell } from "#components/shell/app-shell.tsx";
import { ChooseOrganization } from "#components/shell/choose-organization.tsx";
import { waitingCount } from "#lib/pages/view-approvals.ts";
import { env } from "#lib/env.ts";
import { withReturnTo } from "#lib/http/return-to.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { requestPath, requireCaller } from "./session.ts";
import { readTheme } from "./theme.ts";

type Props = { readonly children: ReactNode };

/** Pages about the person need no organization. */
const isPersonal = (path: string): boolean => path.startsWith("/settings/security");

/** The counts in the menu: requests that wait for approval in a buying organization. */
async function countWaiting({ activeOrganization, capabilities }: Session): Promise<Readonly<Record<string, number>>> {
  if (!activeOrganization?.productRoles.includes("buyer") || !capabilities.includes("checkouts:approve")) return {};
  const { organizationId } = activeOrganization;
  return { "/approvals": await waitingCount({ organizationId, environment: env().ENVIRONMENT }) };
}

/** The frame of an organization's pages. People without a session are sent to sign-in, people without an organization to onboarding. */
export async function OrganizationFrame({ children }: Props) {
  const path = await requestPath();
  const caller = await requireCaller(path);
  const session = await viewSession(caller.sessionId);
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
      waiting={await countWaiting(session)}
    >
      {children}
    </AppShell>
  );
}

/** The frame of the platform's pages. People without a platform role get a 404. */
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
