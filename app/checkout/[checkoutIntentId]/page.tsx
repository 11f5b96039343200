import { notFound } from "next/navigation";
import { requireCaller } from "#app/session.ts";
import { CheckoutDocument, stateOf } from "#components/checkout/checkout-document.tsx";
import { NoCapability } from "#components/checkout/no-capability.tsx";
import { SignOut } from "#components/identity/sign-out.tsx";
import { DocumentPage } from "#components/shell/document-page.tsx";
import { KeepSession } from "#components/shell/keep-session.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";
import { viewCheckout } from "#lib/pages/view-checkout.ts";
import { env } from "#lib/env.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import type { Session } from "#lib/identity/session-schema.ts";
import { isProblem } from "#lib/problem.ts";

export const metadata = { title: "Confirm a payment", robots: { index: false } };

type Params = Promise<{ readonly checkoutIntentId: string }>;

/** A checkout of another organization gets a 404 like one that does not exist. */
async function view(checkoutIntentId: string, caller: SessionCaller): Promise<CheckoutView | "capability_required"> {
  try {
    return await viewCheckout({ checkoutIntentId }, caller);
  } catch (error) {
    if (isProblem(error) && error.code === "not_found") notFound();
    if (isProblem(error) && error.code === "capability_required") return error.code;
    throw error;
  }
}

const SignedIn = ({ session: { user, activeOrganization } }: { readonly session: Session }) => (
  <div className="flex items-center gap-2 [&_.btn]:whitespace-nowrap">
    <p className="text-right">
      Signed in as{" "}
      <strong className="font-560 text-text">
        <Untrusted>{user.name}</Untrusted>
      </strong>
      <br />
      {activeOrganization && (
        <>
          <Untrusted>{activeOrganization.name}</Untrusted>, {activeOrganization.membershipRole}
        </>
      )}
    </p>
    <SignOut />
    <KeepSession />
  </div>
);

/** The confirmation page. The server renders every fact from our own records. */
export default async function CheckoutPage({ params }: { readonly params: Params }) {
  const { checkoutIntentId } = await params;
  const caller = await requireCaller(`/checkout/${encodeURIComponent(checkoutIntentId)}`);
  const [session, shown] = await Promise.all([viewSession(caller.sessionId), view(checkoutIntentId, caller)]);
  const { ENVIRONMENT } = env();
  const narrow = shown === "capability_required" || stateOf(shown) !== "open";
  return (
    <DocumentPage environment={ENVIRONMENT} narrow={narrow} aside={<SignedIn session={session} />}>
      {shown === "capability_required" ? (
        <NoCapability />
      ) : (
        <CheckoutDocument view={shown} viewer={{ userId: session.user.userId, name: session.user.name }} />
      )}
    </DocumentPage>
  );
}
