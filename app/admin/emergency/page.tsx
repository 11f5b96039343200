import { CircleAlert } from "lucide-react";
import { requireOfficial } from "#app/admin/official.ts";
import type { SearchParams } from "#app/search-params.ts";
import { EmergencyForm, type Target } from "#components/platform/emergency-form.tsx";
import { FoundList } from "#components/platform/found-targets.tsx";
import { TargetFacts } from "#components/platform/target-facts.tsx";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one, type PageQuery } from "#components/ui/page-query.ts";
import { Id } from "#lib/ids.ts";
import { findTargets } from "#lib/pages/admin/find-targets.ts";
import { viewTarget } from "#lib/pages/admin/view-targets.ts";

export const metadata = { title: "Emergency revoke" };

const PATH = "/admin/emergency";

const fields = [
  { name: "mandateId", kind: "mandate", label: "Mandate", placeholder: "mdt_…" },
  { name: "agentId", kind: "agent", label: "Agent", placeholder: "sa_…" },
  { name: "sellerId", kind: "seller", label: "Seller", placeholder: "sel_…" },
] as const;

/** Ignores values that cannot be ids. */
const namedIn = (query: PageQuery) =>
  fields.flatMap(({ name, kind }) => {
    const id = Id.safeParse(one(query, name)?.trim()).data;
    return id === undefined ? [] : [{ name, kind, id }];
  });

export default async function EmergencyPage({ searchParams }: { readonly searchParams: SearchParams }) {
  const caller = await requireOfficial(PATH, "platform.emergency.revoke");
  const query = await searchParams;
  const targets = namedIn(query);
  const views = await Promise.all(targets.map(({ kind, id }) => viewTarget(caller.environment, { kind, id })));
  const search = one(query, "q");
  const found = search === undefined ? null : await findTargets(caller.environment, search);
  const named: Target = Object.fromEntries(targets.map(({ name, id }) => [name, id]));
  const complete = views.length > 0 && views.every(({ facts }) => facts !== null);
  return (
    <>
      <PageHeader title="Emergency revoke" description="Find a mandate, an agent or a seller, check it, then stop it." />
      <section className="panel border-[color-mix(in_oklab,var(--color-danger)_55%,var(--color-border))]" aria-labelledby="stop">
        <div className="panel-head">
          <h2 id="stop" className="flex items-center gap-2 text-danger">
            <CircleAlert className="icon size-5" aria-hidden />
            Stop at once
          </h2>
          <p>Stops a mandate, an agent or a seller on every process. It cannot be undone: the buyer has to make a new mandate.</p>
        </div>
        <div className="grid grid-cols-1 *:grid *:min-w-0 *:content-start *:gap-5 *:p-4 max-lg:divide-y md:*:p-5 lg:grid-cols-[minmax(0,1.3fr)_minmax(0,1fr)] lg:divide-x">
          <div>
            <form className="grid gap-5" action={PATH} method="get">
              <Field
                key={`q ${search ?? ""}`}
                label="Find by name"
                name="q"
                type="search"
                defaultValue={search ?? ""}
                minLength={2}
                maxLength={120}
                hint="A part of the name of a mandate, agent, seller or organization, or of a domain."
                autoComplete="off"
              />
              {fields.map(({ name, label, placeholder }) => (
                <Field
                  key={`${name} ${one(query, name) ?? ""}`}
                  label={label}
                  name={name}
                  defaultValue={one(query, name) ?? ""}
                  placeholder={placeholder}
                  className="mono"
                  spellCheck={false}
                  autoComplete="off"
                />
              ))}
              <div>
                <Button withoutScripts type="submit">
                  Look up
                </Button>
              </div>
            </form>
            {complete && <EmergencyForm key={JSON.stringify(named)} named={named} />}
          </div>
          <div>
            <h3>Targets</h3>
            {views.length === 0 && (
              <p className="text-muted text-sm">Find a target by name, or enter ids. Either all are stopped or none.</p>
            )}
            {views.map((view) => (
              <TargetFacts key={view.kind} target={view} />
            ))}
            {found && <FoundList found={found} path={PATH} query={query} />}
          </div>
        </div>
      </section>
    </>
  );
}
