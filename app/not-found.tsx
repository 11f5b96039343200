import { DocumentPage } from "#components/shell/document-page.tsx";
import { Sheet } from "#components/shell/sheet.tsx";
import { buttonClass } from "#components/ui/button.tsx";
import { env } from "#lib/env.ts";

export const metadata = { title: "Not found" };

export default function NotFoundPage() {
  return (
    <DocumentPage environment={env().ENVIRONMENT} narrow>
      <Sheet>
        <div className="lapsed">
          <h1>There is no page here</h1>
          <p>
            The address may be misspelled, the page may have moved, or it belongs to an organization that is not the active one of
            your session.
          </p>
          <div className="actions">
            <a className={buttonClass({ tone: "primary" })} href="/">
              Go to the start page
            </a>
          </div>
        </div>
      </Sheet>
    </DocumentPage>
  );
}
