import { notFound } from "next/navigation";
import { Entrance, OutboxHint } from "#app/entrance.tsx";
import type { SearchParams } from "#app/search-params.ts";
import { readCaller } from "#app/session.ts";
import { AcceptInvitation } from "#components/identity/accept-invitation.tsx";
import { Mailbox } from "#components/identity/mailbox.tsx";
import { SwitchAccount } from "#components/identity/switch-account.tsx";
import { roles } from "#components/organization/role-words.ts";
import { buttonClass } from "#components/ui/button-class.ts";
import { Moment } from "#components/ui/moment.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { returnTo, withReturnTo } from "#lib/http/return-to.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { viewInvitation, type InvitationView } from "#lib/pages/settings/view-invitation.ts";

type Props = { readonly params: Promise<{ readonly invitationToken: string }>; readonly searchParams: SearchParams };
type Reader = { readonly email: string } | null;
type StepProps = { readonly invitation: InvitationView; readonly token: string; readonly reader: Reader; readonly back: string };

export const metadata = { title: "Invitation" };

const titles: Readonly<Record<InvitationView["state"], string>> = {
  open: "You are invited",
  mine: "You are invited",
  unconfirmed: "You are invited",
  other: "This is for another account",
  member: "You are a member already",
  expired: "This invitation has ended",
  canceled: "This invitation was withdrawn",
  accepted: "This invitation was accepted",
};

const Address = ({ children }: { readonly children: string }) => <strong className="wrap-anywhere">{children}</strong>;

function Offer({ invitation: { organizationName, inviterName, role, expiresAt } }: Pick<StepProps, "invitation">) {
  const words = roles.find((one) => one.role === role);
  return (
    <div className="grid grid-cols-1 gap-2">
      <p>
        <Untrusted>{inviterName}</Untrusted> invites you to{" "}
        <strong>
          <Untrusted>{organizationName}</Untrusted>
        </strong>
        .
      </p>
      <p className="text-muted">
        As {words?.name}: {words?.may}
      </p>
      <p className="text-sm text-muted">
        The invitation ends on <Moment at={expiresAt} show="short" />.
      </p>
    </div>
  );
}

function Step({ invitation, token, reader, back }: StepProps) {
  const { state, email, inviterName, organizationName } = invitation;
  const path = withReturnTo(`/invitations/${token}`, back);
  if (state === "mine") {
    return (
      <>
        <Offer invitation={invitation} />
        <AcceptInvitation invitationToken={token} organizationName={organizationName} returnTo={back} />
        <p className="text-sm text-muted">
          You are signed in as <span className="wrap-anywhere">{email}</span>.
        </p>
      </>
    );
  }
  if (state === "open") {
    return (
      <>
        <Offer invitation={invitation} />
        <p>
          It is for <Address>{email}</Address>. Sign in with this address, or create an account with it; then you come back here.
        </p>
        <a className={buttonClass({ tone: "primary", size: "large" })} href={withReturnTo("/sign-in", path, { email })}>
          Sign in
        </a>
        <a className={buttonClass({ size: "large" })} href={withReturnTo("/sign-up", path, { email })}>
          Create an account
        </a>
      </>
    );
  }
  if (state === "unconfirmed") {
    return (
      <>
        <Offer invitation={invitation} />
        <p>Confirm first that the address is yours: we send you a link.</p>
        <Mailbox kind="verify" returnTo={path} email={email} />
        <OutboxHint />
      </>
    );
  }
  if (state === "other") {
    return (
      <>
        <p>
          The invitation to{" "}
          <strong>
            <Untrusted>{organizationName}</Untrusted>
          </strong>{" "}
          is for <Address>{email}</Address>. You are signed in as <Address>{reader?.email ?? ""}</Address>. Nothing happened.
        </p>
        <SwitchAccount next={withReturnTo("/sign-in", path, { email })} />
        <p className="text-sm text-muted">
          Should it be for this account? Ask <Untrusted>{inviterName}</Untrusted> to invite this address.
        </p>
      </>
    );
  }
  return <Ended invitation={invitation} reader={reader} />;
}

function Ended({ invitation: { state, inviterName, organizationName, expiresAt }, reader }: Omit<StepProps, "token" | "back">) {
  const inviter = <Untrusted>{inviterName}</Untrusted>;
  return (
    <>
      <Notice tone={state === "member" ? "accent" : "caution"}>
        <p>
          {state === "member" && (
            <>
              You are a member of <Untrusted>{organizationName}</Untrusted>.
            </>
          )}
          {state === "expired" && (
            <>
              It ended on <Moment at={expiresAt} show="short" />. Ask {inviter} to send it again: the same link works then.
            </>
          )}
          {state === "canceled" && <>Nobody can accept it any more. Ask {inviter} if you expected it.</>}
          {state === "accepted" && <>It works once. Sign in with the account that accepted it.</>}
        </p>
      </Notice>
      <a className={buttonClass({ size: "large" })} href={reader ? "/home" : "/sign-in"}>
        {reader ? "Go to your organization" : "Sign in"}
      </a>
    </>
  );
}

export default async function InvitationPage({ params, searchParams }: Props) {
  const { invitationToken } = await params;
  const back = returnTo((await searchParams)["returnTo"]);
  const caller = await readCaller();
  const user = caller && (await viewSession(caller.sessionId)).user;
  const invitation = await viewInvitation(invitationToken, user);
  if (!invitation) notFound();
  return (
    <Entrance title={titles[invitation.state]}>
      <Step invitation={invitation} token={invitationToken} back={back} reader={user} />
    </Entrance>
  );
}
