import { found } from "#app/found.ts";
import type { SearchParams } from "#app/search-params.ts";
import { requireMember } from "#app/session.ts";
import { MandateEditor } from "#components/mandates/editor/editor.tsx";
import { FixPanel } from "#components/mandates/fix-panel.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { StatusBadge } from "#components/ui/status-badge.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { fixedDraft } from "#lib/mandates/draft/fixed-draft.ts";
import { viewEditorChoices } from "#lib/pages/buyer/view-editor.ts";
import { viewFix } from "#lib/pages/buyer/view-fix.ts";
import { viewMandate } from "#lib/pages/buyer/view-mandate.ts";

export const metadata = { title: "Edit a mandate" };

type Props = { readonly params: Promise<{ readonly mandateId: string }>; readonly searchParams: SearchParams };

const NoFix = () => (
  <div className="mb-8">
    <Notice tone="caution">
      No change is offered for this denial. It was made by a rule that should not be lifted from here, or the mandate has changed
      since. You can still edit the mandate below.
    </Notice>
  </div>
);

/** `fix` is the id of a decision that denied a payment: the form then has the change, if one is offered, that ends the denial. */
export default async function EditMandatePage({ params, searchParams }: Props) {
  const { mandateId } = await params;
  const asked = one(await searchParams, "fix");
  const path = `/mandates/${encodeURIComponent(mandateId)}`;
  const caller = await requireMember(`${path}/edit${asked === undefined ? "" : `?fix=${encodeURIComponent(asked)}`}`);
  if (!caller.capabilities.has("mandates:manage")) {
    return <NotForRole title="Edit a mandate" what="the form of a mandate" who="Owners and admins" />;
  }
  const { mandate } = await found(viewMandate(caller, mandateId));
  const { name, status, version } = mandate;
  const view = asked === undefined ? null : await viewFix(caller, mandateId, asked);
  const start = view?.fix && fixedDraft(mandate, view.fix);
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
        <>
          {view && <FixPanel mandate={mandate} view={view} />}
          {asked !== undefined && !view && <NoFix />}
          <MandateEditor
            key={version}
            mandate={mandate}
            choices={await viewEditorChoices(caller, mandate.agents)}
            {...(start && { start: start.draft, focus: start.fields[0] })}
          />
        </>
      )}
    </>
  );
}
