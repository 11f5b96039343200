import { found } from "#app/found.ts";
import { requireMember } from "#app/session.ts";
import { MandateEditor } from "#components/mandates/editor/editor.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { viewEditorChoices } from "#lib/pages/view-editor.ts";
import { viewMandate } from "#lib/pages/view-mandate.ts";

export const metadata = { title: "Edit a mandate" };

type Props = { readonly params: Promise<{ readonly mandateId: string }> };

/** A new version of a mandate. Its usage is kept. */
export default async function EditMandatePage({ params }: Props) {
  const { mandateId } = await params;
  const path = `/mandates/${encodeURIComponent(mandateId)}`;
  const caller = await requireMember(`${path}/edit`);
  if (!caller.capabilities.has("mandates:manage")) {
    return <NotForRole title="Edit a mandate" what="the form of a mandate" who="Owners and admins" />;
  }
  const { mandate } = await found(viewMandate(caller, mandateId));
  const { name, status, version } = mandate;
  return (
    <>
      <PageHeader
        back={{ href: path, label: "Mandate" }}
        title={<Untrusted>{name}</Untrusted>}
        description={
          <>
            <StatusBadge of="mandate" status={status} /> Version {version}
            {status === "draft" ? "" : " is in force"}. Saving makes version {version + 1}.
          </>
        }
      />
      {status === "revoked" ? (
        <Notice tone="caution">This mandate was revoked and can no longer be changed.</Notice>
      ) : (
        <MandateEditor key={version} mandate={mandate} choices={await viewEditorChoices(caller)} />
      )}
    </>
  );
}
