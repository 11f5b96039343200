import { notFound } from "next/navigation";
import { readCaller } from "#app/session.ts";
import { Inputs, Refusals, Reply } from "#components/docs/operation-sections.tsx";
import { Prose } from "#components/docs/prose.tsx";
import { TryOperation } from "#components/docs/try-operation.tsx";
import { Code } from "#components/ui/code.tsx";
import { PageHeader } from "#components/ui/page-header.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { freshExample } from "#lib/pages/docs/fresh-example.ts";
import { referenceOf, type Reference } from "#lib/pages/docs/reference.ts";
import { env } from "#lib/env.ts";

type Props = { readonly params: Promise<{ readonly operationId: string }> };

/** How far ahead `expiresAt` in an example is: long enough to read the page and try it. */
const EXAMPLE_MS = 3_600_000;

export async function generateMetadata({ params }: Props) {
  return { title: (await params).operationId };
}

const exampleBody = ({ method, body }: Reference): string | null => {
  if (method === "GET" || !body) return null;
  const fresh = { name: `try-${crypto.randomUUID().slice(0, 8)}`, expiresAt: new Date(Date.now() + EXAMPLE_MS) };
  return JSON.stringify(freshExample(body.example, fresh), null, 2);
};

function curlOf({ method, path, parameters, credentials }: Reference, body: string | null, baseUrl: string): string {
  const filled = parameters.reduce((text, { name, example = "…" }) => text.replace(`{${name}}`, example), path);
  const query = parameters.filter((one) => one.in === "query" && one.example !== undefined && one.example !== "");
  const search =
    query.length > 0 ? `?${query.map(({ name, example }) => `${name}=${encodeURIComponent(example ?? "")}`).join("&")}` : "";
  const lines = [
    `curl "${baseUrl}${filled}${search}"`,
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(credentials.includes("apiKey") ? ['-H "Authorization: Bearer $COUNTERSIGN_API_KEY"'] : []),
    ...(body === null ? [] : ['-H "Content-Type: application/json"', `-d '${body.replaceAll("'", String.raw`'\''`)}'`]),
  ];
  return lines.join(" \\\n  ");
}

export default async function OperationPage({ params }: Props) {
  const reference = referenceOf((await params).operationId);
  if (!reference) notFound();
  const { ENVIRONMENT, BASE_URL } = env();
  const { method, path, summary, description, parameters, credentials } = reference;
  const body = exampleBody(reference);
  return (
    <>
      <PageHeader
        title={summary}
        description={<code>{`${method} ${path}`}</code>}
        back={{ href: "/docs", label: "API reference" }}
      />
      <div className="split">
        <div className="stack">
          <div className="prose">
            {description.map((paragraph) => (
              <p key={paragraph}>
                <Prose text={paragraph} />
              </p>
            ))}
          </div>
          <Inputs {...reference} />
          <Reply {...reference} />
          <Refusals {...reference} />
        </div>
        <div className="stack">
          {credentials.length > 0 && !credentials.includes("apiKey") ? null : (
            <Code label="With curl" text={curlOf(reference, body, BASE_URL)} />
          )}
          {ENVIRONMENT === "sandbox" && !credentials.includes("stripeSignature") && (
            <Panel id="try" title="Try it">
              <div className="panel-body">
                <TryOperation
                  method={method}
                  path={path}
                  body={body}
                  credentials={credentials}
                  signedIn={(await readCaller()) !== null}
                  parameters={parameters.map(({ name, in: place, required, example }) => ({
                    name,
                    in: place,
                    required,
                    example,
                  }))}
                />
              </div>
            </Panel>
          )}
        </div>
      </div>
    </>
  );
}
