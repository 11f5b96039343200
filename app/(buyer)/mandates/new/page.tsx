import type { SearchParams } from "#app/search-params.ts";
import { requireMember } from "#app/session.ts";
import { MandateEditor } from "#components/mandates/editor/editor.tsx";
import { Templates } from "#components/mandates/templates.tsx";
import { NotForRole } from "#components/shell/not-for-role.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { isTemplate, templateDraft, templatesFor } from "#lib/mandates/draft/templates.ts";
import { viewEditorChoices } from "#lib/pages/buyer/view-editor.ts";

export const metadata = { title: "New mandate" };

export default async function NewMandatePage({ searchParams }: { readonly searchParams: SearchParams }) {
  const asked = one(await searchParams, "template");
  const template = isTemplate(asked) ? asked : undefined;
  const caller = await requireMember(template ? `/mandates/new?template=${template}` : "/mandates/new");
  if (!caller.capabilities.has("mandates:create")) {
    return <NotForRole title="New mandate" what="the form of a mandate" who="Owners and admins" />;
  }
  const choices = await viewEditorChoices(caller);
  const [coin] = choices.coins;
  const asset = coin?.asset ?? "";
  const start = template && templateDraft(template, { coin: `${asset} ${coin?.chain}`, now: new Date() });
  return (
    <>
      <PageHeader
        back={{ href: "/mandates", label: "Mandates" }}
        title="New mandate"
        description="Saved as a draft. No agent can pay under it until you activate it."
      />
      <Templates templates={templatesFor(asset)} chosen={template} />
      <MandateEditor key={template} choices={choices} {...(start && { start })} />
    </>
  );
}
