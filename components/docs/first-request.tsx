import { CodeTabs } from "#components/ui/code.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { snippetsFor } from "#lib/pages/docs/quickstart.ts";
import { sampleBody, type Sample } from "#lib/pages/docs/sample.ts";
import { LivePayments } from "./live-payments.tsx";
import { RunSample } from "./run-sample.tsx";

export type FirstRequestReader = {
  readonly mandates: readonly { readonly mandateId: string; readonly name: string }[];
  readonly key: { readonly serviceAccountId: string; readonly preview: string } | undefined;
  readonly may: { readonly authorize: boolean; readonly createMandates: boolean; readonly readPayments: boolean };
};

type Props = {
  readonly baseUrl: string;
  readonly sandbox: boolean;
  readonly sample: Sample;
  /** Null if the reader is not signed in or has no active organization. */
  readonly reader: FirstRequestReader | null;
  /** Put into the snippets; a copied snippet can be used until `expiresAt`. */
  readonly fresh: { readonly name: string; readonly expiresAt: Date };
};

const Run = ({ reader, sample, sandbox }: Pick<Props, "reader" | "sample" | "sandbox">) => {
  if (!sandbox)
    return <Notice>This installation moves real money. The request can be run from the page in the sandbox only.</Notice>;
  if (!reader) {
    return (
      <p>
        <a href="/sign-in?returnTo=%2Fdocs%2Fquickstart">Sign in</a> to run it from this page, with your own key and mandate
        filled in.
      </p>
    );
  }
  if (!reader.may.authorize) {
    return <p>Your role does not authorize payments. An owner or admin can run this, or an agent with its key.</p>;
  }
  return <RunSample sample={sample} mandates={reader.mandates} mayCreate={reader.may.createMandates} />;
};

export function FirstRequest({ baseUrl, sandbox, sample, reader, fresh }: Props) {
  const mandateId = reader?.mandates[0]?.mandateId ?? "mdt_…";
  const snippets = snippetsFor({ baseUrl, key: reader?.key, body: sampleBody(mandateId, sample, fresh) });
  return (
    <>
      <section className="panel" aria-labelledby="request">
        <div className="panel-head">
          <h2 id="request">Your first authorization</h2>
          <p>A test payment of 0.002 {sample.asset} to a sample weather API.</p>
        </div>
        <div className="panel-body grid grid-cols-1 gap-6">
          <CodeTabs label="Language" snippets={snippets} />
          <Run reader={reader} sample={sample} sandbox={sandbox} />
        </div>
      </section>
      {reader?.may.readPayments && (
        <section className="panel" aria-labelledby="arriving">
          <div className="panel-head">
            <h2 id="arriving">Requests as they arrive</h2>
            <span className="text-muted text-sm">Read every 3 seconds</span>
          </div>
          <LivePayments />
        </section>
      )}
    </>
  );
}
