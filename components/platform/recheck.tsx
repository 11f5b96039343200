"use client";

import { ReasonDialog } from "#components/ui/confirm-dialog.tsx";
import { atAddress, call } from "#lib/http/client.ts";
import type * as contract from "#lib/settlement/contract.ts";
import { REASON_MIN } from "./role-words.ts";

const recheckExecution = atAddress<typeof contract.recheckExecution>({
  id: "recheckExecution",
  method: "POST",
  path: "/api/v1/platform/executions/{executionId}/recheck",
});

export const Recheck = ({ executionId }: { readonly executionId: string }) => (
  <ReasonDialog
    trigger={
      <>
        Ask again<span className="sr"> about {executionId}</span>
      </>
    }
    look={{ size: "small" }}
    title="Ask the network again"
    action="Ask now"
    nothing="Nothing was asked."
    reasonMin={REASON_MIN}
    act={(reason) => call(recheckExecution, { executionId, body: { reason } })}
    done="The network is being asked"
  >
    This execution is checked next. Only the chain decides its outcome; the amount stays held until then.
  </ReasonDialog>
);
