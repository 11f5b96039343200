import { requireMember } from "#app/session.ts";
import { MandateEditor } from "#components/mandates/editor/editor.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { viewEditorChoices } from "#lib/pages/view-editor.ts";

export const metadata = { title: "New mandate" };

/** A new mandate. It is a draft that allows no payment until a person activates it. */
export default async function NewMandatePage() {
  const caller = await requireMember("/mandates/new");
  if (!caller.capabilities.has("mandates:create")) {
    return <NotForRole title="New mandate" what="the form of a mandate" who="Owners and admins" />;
  }
  return (
    <>
      <PageHeader
        back={{ href: "/mandates", label: "Mandates" }}
        title="New mandate"
        description="Saved as a draft. No agent can pay under it until you activate it."
      />
      <MandateEditor choices={await viewEditorChoices(caller)} />
    </>
  );
}
