import { DocumentPage } from "#components/shell/document-page.tsx";
import { NothingHere } from "#components/shell/nothing-here.tsx";
import { Sheet } from "#components/shell/sheet.tsx";
import { env } from "#lib/env.ts";

export { metadata } from "#components/shell/nothing-here.tsx";

export default function NotFoundPage() {
  return (
    <DocumentPage environment={env().ENVIRONMENT} narrow>
      <Sheet>
        <div className="lapsed">
          <NothingHere />
        </div>
      </Sheet>
    </DocumentPage>
  );
}
