import type { Session } from "#lib/identity/session-schema.ts";
import type { Environment } from "#lib/vocabulary.ts";
import { DocumentPage } from "./document-page.tsx";
import { OrganizationSwitch } from "./organization-switch.tsx";
import { Sheet } from "./sheet.tsx";

type Props = { readonly environment: Environment; readonly organizations: Session["organizations"] };

/** Shown to members of organizations of which none is active, for example after a removal from the active one. */
export const ChooseOrganization = ({ environment, organizations }: Props) => (
  <DocumentPage environment={environment} narrow>
    <Sheet>
      <div className="lapsed">
        <h1>Choose an organization</h1>
        <p>You are no longer a member of the organization that was active. Choose another one.</p>
        <div className="w-full max-w-xs">
          <OrganizationSwitch organizations={organizations} activeId={null} platform={false} />
        </div>
      </div>
    </Sheet>
  </DocumentPage>
);
