import Link from "next/link";
import type { SearchParams } from "#app/search-params.ts";
import { DocsHits } from "#components/docs/docs-hits.tsx";
import { DocsSearch } from "#components/docs/docs-search.tsx";
import { Prose } from "#components/docs/prose.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Empty } from "#components/ui/empty.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { one } from "#components/ui/page-query.ts";
import { Panel } from "#components/ui/panel.tsx";
import { chapters, introduction, sectionOf, type Chapter } from "#lib/pages/docs/reference.ts";
import { searchDocs } from "#lib/pages/docs/search-docs.ts";

export const metadata = { title: "API reference" };

function Found({ text }: { readonly text: string }) {
  const hits = searchDocs(text);
  return (
    <>
      <PageHeader back={{ href: "/docs", label: "API reference" }} title="Search the documentation" />
      <div className="stack">
        <DocsSearch value={text} />
        <section className="panel" aria-label="Results">
          {hits.length > 0 ? (
            <DocsHits hits={hits} />
          ) : (
            <Empty title="Nothing found" action={<Link href="/docs">Show all sections</Link>}>
              Every word has to occur. Search for an operation, a field, a path or a problem code.
            </Empty>
          )}
        </section>
      </div>
    </>
  );
}

const countWords = (count: number): string => `${count} ${count === 1 ? "operation" : "operations"}`;

const Section = ({ chapter: { tag, description, operations } }: { readonly chapter: Chapter }) => (
  <li className="grid grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 p-4 text-sm md:px-5">
    <div>
      <h3>
        <Link href={sectionOf(tag)} prefetch={false}>
          {tag}
        </Link>
      </h3>
      <p className="text-muted">{description}</p>
    </div>
    <span className="whitespace-nowrap text-muted">{countWords(operations.length)}</span>
  </li>
);

export default async function ReferencePage({ searchParams }: { readonly searchParams: SearchParams }) {
  const text = one(await searchParams, "q")?.trim();
  if (text) return <Found text={text} />;
  const [about = "", ...rules] = introduction();
  return (
    <>
      <PageHeader
        title="API reference"
        description={about}
        actions={
          <>
            <a className={buttonClass()} href="/docs/quickstart">
              Quickstart
            </a>
            <a className={buttonClass()} href="/api/v1/openapi.json">
              OpenAPI document
            </a>
          </>
        }
      />
      <div className="stack">
        <Panel id="sections" title="Sections">
          <ul className="divide-y">
            {chapters().map((chapter) => (
              <Section key={chapter.tag} chapter={chapter} />
            ))}
          </ul>
        </Panel>
        <Panel id="rules" title="Rules for every operation">
          <div className="panel-body prose">
            {rules.map((rule) => (
              <p key={rule}>
                <Prose text={rule} />
              </p>
            ))}
          </div>
        </Panel>
      </div>
    </>
  );
}
