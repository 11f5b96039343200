import Link from "next/link";
import { ReceiptLink } from "#components/receipts/receipt-link.tsx";
import { Panel } from "#components/ui/panel.tsx";

/** `executionId` is undefined if no execution is settled. */
type Props = { readonly authorizationId: string; readonly executionId?: string | undefined };

export const SignedReceipts = ({ authorizationId, executionId }: Props) => (
  <Panel id="signed-receipts" title="Signed records">
    <div className="panel-body grid gap-2">
      <p className="text-sm text-muted">
        Files that prove what this service decided and what was settled. Only the published keys are needed to check them, for
        example at <Link href="/verify">/verify</Link>.
      </p>
      <ul className="flex flex-wrap gap-x-4 gap-y-1">
        <li>
          <ReceiptLink of="payments" id={authorizationId}>
            Download the signed decision
          </ReceiptLink>
        </li>
        {executionId !== undefined && (
          <li>
            <ReceiptLink of="executions" id={executionId}>
              Download the signed settlement
            </ReceiptLink>
          </li>
        )}
      </ul>
    </div>
  </Panel>
);
