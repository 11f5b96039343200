import { Code } from "#components/ui/code.tsx";
import { Ledger } from "#components/ui/ledger.tsx";
import type { Reference } from "#lib/pages/docs/reference.ts";
import { Fields } from "./fields.tsx";

const asJson = (value: unknown): string => JSON.stringify(value, null, 2);

export function Inputs({ parameters, body }: Pick<Reference, "parameters" | "body">) {
  return (
    <>
      {parameters.length > 0 && (
        <section className="panel" aria-labelledby="parameters">
          <div className="panel-head">
            <h2 id="parameters">Parameters</h2>
          </div>
          <div className="panel-body">
            <Fields
              fields={parameters.map(({ field, in: place }) => ({
                ...field,
                description: field.description ?? (place === "path" ? "In the path." : "In the query."),
              }))}
            />
          </div>
        </section>
      )}
      {body && body.fields.length > 0 && (
        <section className="panel" aria-labelledby="body">
          <div className="panel-head">
            <h2 id="body">Body</h2>
            {!body.required && <p>May be left out.</p>}
          </div>
          <div className="panel-body">
            <Fields fields={body.fields} />
          </div>
        </section>
      )}
    </>
  );
}

export function Reply({ reply }: Pick<Reference, "reply">) {
  return (
    <section className="panel" aria-labelledby="reply">
      <div className="panel-head">
        <h2 id="reply">Reply, {reply.status}</h2>
      </div>
      <div className="panel-body grid grid-cols-1 gap-5">
        <Code label="Example of a reply" text={asJson(reply.example)} />
        {reply.fields.length > 0 && <Fields fields={reply.fields} />}
      </div>
    </section>
  );
}

export function Refusals({ refusals }: Pick<Reference, "refusals">) {
  if (refusals.length === 0) return null;
  return (
    <section className="panel" aria-labelledby="refusals">
      <div className="panel-head">
        <h2 id="refusals">Refusals of this operation</h2>
        <p>Besides those that every operation may answer.</p>
      </div>
      <Ledger
        caption="Refusals"
        columns={[
          { name: "Code", cell: ({ code }) => <code>{code}</code> },
          { name: "Status", cell: ({ status }) => status },
          { name: "Title", cell: ({ title }) => title },
        ]}
        rows={refusals}
        rowKey={({ code }) => code}
      />
    </section>
  );
}
