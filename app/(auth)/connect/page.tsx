import type { ReactNode } from "react";
import type { SearchParams } from "#app/search-params.ts";
import { requestPath, requireMember } from "#app/session.ts";
import { ConsentForm } from "#components/connect/consent-form.tsx";
import { SignOut } from "#components/identity/sign-out.tsx";
import { Brand } from "#components/shell/brand.tsx";
import { EnvironmentBanner } from "#components/shell/environment-banner.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Notice } from "#components/ui/notice.tsx";
import { Pairs } from "#components/ui/pairs.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { env } from "#lib/env.ts";
import { viewSession } from "#lib/identity/sessions/get-session.ts";
import { viewConnect, type ConnectView } from "#lib/pages/settings/view-connect.ts";

export const metadata = { title: "Connect a program" };

/** By the error codes of OAuth, and those of readAuthorizationRequest. */
const refusals: ReadonlyMap<string, string> = new Map([
  [
    "invalid_client",
    "The program is not registered here, or its registration has ended. Remove the connection in the program and add it again, or check its client id.",
  ],
  ["invalid_redirect", "The program asks for a redirect to an address that is not registered for it, or that cannot get codes."],
  [
    "invalid_document",
    "The program’s metadata document cannot be used. It must be JSON of at most 64 KiB at the address that is its client id, name this address as client_id, use no secret, and have a redirect address that is allowed. Tell the maker of the program.",
  ],
  ["invalid_scope", "The program asks for a right that agents cannot have. Tell the maker of the program."],
  [
    "invalid_target",
    "The program asks for access to another service. Check the address in its settings, then start again in the program.",
  ],
  ["login_required", "The program asks to be connected without a page, but a person must decide. Start again in the program."],
  ["server_error", "The request could not be checked. Wait a moment, then start again in the program."],
]);

const places: Readonly<Record<ConnectView["place"]["kind"], string>> = {
  device: "a program on this device, at",
  host: "the site",
  app: "the program that opens",
};

const Page = ({
  title,
  email,
  children,
}: {
  readonly title: ReactNode;
  /** Absent if nobody is signed in. */
  readonly email?: string;
  readonly children: ReactNode;
}) => (
  <>
    <a className="skip" href="#main">
      Skip to content
    </a>
    <EnvironmentBanner environment={env().ENVIRONMENT} />
    <div className="mx-auto max-w-180 px-4 pt-4 pb-12 md:px-6 md:pt-6 md:pb-16">
      <header className="flex items-center justify-between gap-4 pb-6 text-sm text-muted md:pb-8">
        <Brand />
        {email !== undefined && (
          <span className="flex min-w-0 items-center gap-1">
            <span className="wrap-anywhere max-md:hidden">{email}</span>
            <SignOut />
          </span>
        )}
      </header>
      <main id="main" tabIndex={-1} className="grid grid-cols-1 gap-6">
        <h1 className="text-2xl tracking-display wrap-anywhere md:text-3xl">{title}</h1>
        {children}
      </main>
    </div>
  </>
);

const known: Readonly<Record<ConnectView["registration"], string>> = {
  builtIn: "Part of Countersign",
  organization: "Registered by your organization",
  site: "Not verified. Described by the document at",
  itself: "Not verified. The program registered itself",
};

const Facts = ({ view, organization }: { readonly view: ConnectView; readonly organization: string }) => (
  <>
    <Pairs
      items={[
        ["Program", <Untrusted key="name">{view.clientName}</Untrusted>],
        [
          "Identity",
          <span key="known">
            {known[view.registration]}
            {view.document !== null && (
              <>
                {" "}
                <strong className="mono">
                  <Untrusted>{view.document}</Untrusted>
                </strong>
              </>
            )}
          </span>,
        ],
        [
          "Redirects to",
          <span key="place">
            {places[view.place.kind]} <strong className="mono">{view.place.name}</strong>
          </span>,
        ],
        ["Organization", <Untrusted key="organization">{organization}</Untrusted>],
      ]}
    />
    {view.registration !== "builtIn" && (
      <Notice tone="caution">
        <p>
          {(view.registration === "itself" || view.registration === "site") && (
            <strong>This program is not verified: anybody can use this name. </strong>
          )}
          Connect only if you have just started this in a program that you trust
          {view.place.kind === "host" || view.document !== null ? ", and if you know the site above" : ""}.
        </p>
      </Notice>
    )}
    <p className="text-sm text-muted">
      {view.registration === "builtIn"
        ? "It gets an API key of the service account, but no access to your own account."
        : "It gets no access to your own account."}{" "}
      It can never approve payments, raise limits, give rights or see another organization. You can end the connection on the page
      “Connect an agent”. It also ends when you leave the organization.
    </p>
  </>
);

const Stop = ({ children, href, label }: { readonly children: ReactNode; readonly href: string; readonly label: ReactNode }) => (
  <>
    <Notice tone="caution">
      <p>{children}</p>
    </Notice>
    <p>
      <a className={buttonClass({})} href={href}>
        {label}
      </a>
    </p>
  </>
);

/** Names where the link leads, because anybody can register a program and its address. */
const Back = ({ place }: Pick<ConnectView, "place">) => (
  <span className="min-w-0 wrap-anywhere">
    Back to {places[place.kind]} <Untrusted>{place.name}</Untrusted>
  </span>
);

/** Also for people who are not signed in, because a sign-in would change nothing. */
const Refused = ({ error, email }: { readonly error: string; readonly email?: string }) => (
  <Page title="Nothing was connected" {...(email !== undefined && { email })}>
    <Stop href="/settings/connect" label="Connect an agent">
      {refusals.get(error) ?? "The request of the program is not valid. Start again in the program."} Nothing was sent to the
      program.
    </Stop>
  </Page>
);

export default async function ConnectPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const { error } = await searchParams;
  if (typeof error === "string") return <Refused error={error} />;
  const path = await requestPath();
  const caller = await requireMember(path);
  const { user, activeOrganization } = await viewSession(caller.sessionId);
  const organization = activeOrganization?.name ?? "";
  const query = path.slice(path.indexOf("?") + 1);
  const answer = await viewConnect(caller, query);
  if (answer.kind === "unusable") return <Refused error={answer.error} email={user.email} />;
  if (answer.kind === "ask") {
    const { view } = answer;
    const title = (
      <>
        Connect <Untrusted>{view.clientName}</Untrusted> to <Untrusted>{organization}</Untrusted>?
      </>
    );
    return (
      <Page title={title} email={user.email}>
        <Facts view={view} organization={organization} />
        <ConsentForm request={query} view={view} />
      </Page>
    );
  }
  return (
    <Page title="Nothing was connected" email={user.email}>
      {answer.kind === "otherOrganization" && (
        <Stop href="/settings/connect" label="Connect an agent">
          This program is registered by another organization. Switch to that organization and start again in the program, or
          register the program for <Untrusted>{organization}</Untrusted>.
        </Stop>
      )}
      {answer.kind === "mayNot" && (
        <Stop href={answer.refuseAt} label={<Back place={answer.place} />}>
          Your role in <Untrusted>{organization}</Untrusted> may not connect programs. Ask an owner, admin or developer.
        </Stop>
      )}
    </Page>
  );
}
