import { notFound } from "next/navigation";
import { mayReadOutbox } from "#app/entrance.tsx";
import { oneOf, type SearchParams } from "#app/search-params.ts";
import { DocumentPage } from "#components/shell/document-page.tsx";
import { Sheet } from "#components/shell/sheet.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { env } from "#lib/env.ts";
import { viewOutbox, type KeptMail } from "#lib/pages/view-outbox.ts";

export const metadata = { title: "Local outbox" };

const Mail = ({ mail: { to, subject, opening, link, closing, at } }: { readonly mail: KeptMail }) => (
  <article className="grid gap-2 border-t pt-5 wrap-anywhere">
    <h2>{subject}</h2>
    <p className="text-sm text-muted">
      To {to}, <Moment at={at} show="short" />
    </p>
    <p className="whitespace-pre-line">{opening}</p>
    {link !== null && (
      <p>
        <a href={link}>{link}</a>
      </p>
    )}
    {closing !== "" && <p className="text-sm text-muted whitespace-pre-line">{closing}</p>}
  </article>
);

/** Mails contain sign-in links, so people without access get a 404. */
export default async function OutboxPage({ searchParams }: { readonly searchParams: SearchParams }) {
  if (!(await mayReadOutbox())) notFound();
  const to = oneOf((await searchParams)["to"]);
  const mails = await viewOutbox(to);
  return (
    <DocumentPage environment={env().ENVIRONMENT} narrow>
      <Sheet>
        <div className="grid gap-5 px-4 py-5 md:p-8">
          <h1>Local outbox</h1>
          <p className="text-muted">
            This sandbox has no SMTP server, so its mail stays here. Only this machine and platform admins can read it. Set{" "}
            <code>SMTP_URL</code> to send mail.
          </p>
          <form method="get" className="flex items-end gap-3 *:first:min-w-0 *:first:flex-1">
            <Field label="To" name="to" type="email" autoComplete="off" defaultValue={to ?? ""} />
            <Button withoutScripts type="submit">
              Show
            </Button>
          </form>
          {mails.length === 0 ? (
            <p>{to === undefined ? "No mail yet." : "No mail to this address."}</p>
          ) : (
            mails.map((mail) => <Mail key={mail.mailId} mail={mail} />)
          )}
        </div>
      </Sheet>
    </DocumentPage>
  );
}
