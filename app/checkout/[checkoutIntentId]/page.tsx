import { notFound } from "next/navigation";
import { cache } from "react";
import { oneOf, type SearchParams } from "#app/search-params.ts";
import { requireCaller } from "#app/session.ts";
import { CheckoutDocument, stateOf } from "#components/checkout/checkout-document.tsx";
import { closedWord } from "#components/checkout/closed-sheet.tsx";
import { NoCapability } from "#components/checkout/no-capability.tsx";
import { OtherOrganization } from "#components/checkout/other-organization.tsx";
import { SignOut } from "#components/identity/sign-out.tsx";
import { DocumentPage } from "#components/shell/document-page.tsx";
import { KeepSession } from "#components/shell/keep-session.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { viewCheckout } from "#lib/pages/buyer/view-checkout.ts";
import { env } from "#lib/env.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { isProblem } from "#lib/problem.ts";

const pathOf = (checkoutIntentId: string): string => `/checkout/${encodeURIComponent(checkoutIntentId)}`;

type Params = Promise<{ readonly checkoutIntentId: string }>;

/** If the caller can still decide, this records what they were shown; `cache` lets the page and its title share one read. */
const view = cache(async (checkoutIntentId: string): Promise<CheckoutView | "capability_required"> => {
  const caller = await requireCaller(pathOf(checkoutIntentId));
  try {
    return await viewCheckout({ checkoutIntentId }, caller);
  } catch (error) {
    if (isProblem(error) && error.code === "not_found") notFound();
    if (isProblem(error) && error.code === "capability_required") return error.code;
    throw error;
  }
});

function titleOf(shown: CheckoutView | "capability_required"): string {
  if (shown === "capability_required") return "Confirm a payment";
  const { amounts, payee, mayDecide } = shown;
  const state = { open: mayDecide ? "Approve" : "Waiting", signed: "Approved", closed: closedWord(shown) }[stateOf(shown)];
  return `${amounts.charged} to ${payee.domain} – ${state}`;
}

/** This function reads no checkout, so it cannot reveal whether the checkout exists. */
const otherOrganization = cache(async (checkoutIntentId: string, named: string | undefined) => {
  if (named === undefined) return null;
  const path = `${pathOf(checkoutIntentId)}?organization=${encodeURIComponent(named)}`;
  const { organizationId, sessionId } = await requireCaller(path);
  if (organizationId === named) return null;
  const { organizations } = await viewSession(sessionId);
  return organizations.find((one) => one.organizationId === named) ?? null;
});

/** The page reaches below the bars of a phone, so that env(safe-area-inset-*) says how far. */
export const viewport = { viewportFit: "cover" };

type Props = { readonly params: Params; readonly searchParams: SearchParams };

export async function generateMetadata({ params, searchParams }: Props) {
  const { checkoutIntentId } = await params;
  const other = await otherOrganization(checkoutIntentId, oneOf((await searchParams)["organization"]));
  if (other) return { title: "Switch organization", robots: { index: false } };
  return { title: titleOf(await view(checkoutIntentId)), robots: { index: false } };
}

const SignedIn = ({ session: { user, activeOrganization } }: { readonly session: Session }) => (
  <div className="flex min-w-0 items-center gap-2 [&_.btn]:whitespace-nowrap">
    <p className="grid min-w-0 text-right *:truncate">
      <span>
        <span className="sr">Signed in as </span>
        <strong className="font-560 text-text">
          <Untrusted>{user.name}</Untrusted>
        </strong>
      </span>
      {activeOrganization && (
        <span>
          <Untrusted>{activeOrganization.name}</Untrusted>, {activeOrganization.membershipRole}
        </span>
      )}
    </p>
    <SignOut />
    <KeepSession />
  </div>
);

export default async function CheckoutPage({ params, searchParams }: Props) {
  const { checkoutIntentId } = await params;
  const other = await otherOrganization(checkoutIntentId, oneOf((await searchParams)["organization"]));
  if (other) {
    const { organizationId, name } = other;
    return (
      <DocumentPage environment={env().ENVIRONMENT} narrow>
        <OtherOrganization organizationId={organizationId} name={name} path={pathOf(checkoutIntentId)} />
      </DocumentPage>
    );
  }
  const caller = await requireCaller(pathOf(checkoutIntentId));
  const [session, shown] = await Promise.all([viewSession(caller.sessionId), view(checkoutIntentId)]);
  const { ENVIRONMENT } = env();
  const narrow = shown === "capability_required" || stateOf(shown) !== "open";
  return (
    <DocumentPage environment={ENVIRONMENT} narrow={narrow} aside={<SignedIn session={session} />}>
      {shown === "capability_required" ? <NoCapability /> : <CheckoutDocument view={shown} />}
    </DocumentPage>
  );
}
