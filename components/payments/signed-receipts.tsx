import Link from "next/link";

type Receipt = { readonly label: string; readonly href: string; readonly file: string };

/** The signed receipts of a payment: one of the decision, and one of each settled execution. */
function receiptsOf(authorizationId: string, executionId: string | undefined): Receipt[] {
  const api = "/api/v1/receipts";
  return [
    { label: "decision", href: `${api}/payments/${authorizationId}`, file: `${authorizationId}.json` },
    ...(executionId === undefined
      ? []
      : [{ label: "settlement", href: `${api}/executions/${executionId}`, file: `${executionId}.json` }]),
  ];
}

type Props = { readonly authorizationId: string; readonly executionId?: string | undefined };

/** Links to files that prove a payment's decision and settlement without this service. */
export const SignedReceipts = ({ authorizationId, executionId }: Props) => (
  <section className="panel" aria-labelledby="signed-receipts">
    <div className="panel-head">
      <h2 id="signed-receipts">Signed receipts</h2>
    </div>
    <div className="panel-body grid gap-2">
      <p className="text-sm text-muted">
        A file that proves what this service decided, with its published keys alone. Check it at{" "}
        <Link href="/verify">/verify</Link>.
      </p>
      <ul className="flex flex-wrap gap-x-4 gap-y-1">
        {receiptsOf(authorizationId, executionId).map(({ label, href, file }) => (
          <li key={label}>
            <a href={href} download={file}>
              Download the receipt of the {label}
            </a>
          </li>
        ))}
      </ul>
    </div>
  </section>
);
