import { Prose } from "#components/docs/prose.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { Ledger } from "#components/ui/ledger.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { chapters, introduction } from "#lib/pages/reference.ts";

export const metadata = { title: "API reference" };

export default function ReferencePage() {
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
        <section className="panel" aria-labelledby="rules">
          <div className="panel-head">
            <h2 id="rules">Rules for every operation</h2>
          </div>
          <div className="panel-body prose">
            {rules.map((rule) => (
              <p key={rule}>
                <Prose text={rule} />
              </p>
            ))}
          </div>
        </section>
        {chapters().map(({ tag, description, operations }) => (
          <section className="panel" key={tag} aria-labelledby={tag}>
            <div className="panel-head">
              <h2 id={tag}>{tag}</h2>
              <p>{description}</p>
            </div>
            <Ledger
              caption={`Operations: ${tag}`}
              columns={[
                { name: "Operation", cell: ({ id }) => <span className="whitespace-nowrap">{id}</span> },
                { name: "Request", cell: ({ method, path }) => <code>{`${method} ${path}`}</code> },
                { name: "What it does", cell: ({ summary }) => summary },
              ]}
              rows={operations}
              rowKey={({ id }) => id}
              href={({ id }) => `/docs/${id}`}
            />
          </section>
        ))}
      </div>
    </>
  );
}
