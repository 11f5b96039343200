"use client";

import { Button } from "#components/ui/button.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { call } from "#lib/http/client.ts";
import type { RequestOf } from "#lib/http/operation.ts";
import type { ListedResource } from "#lib/sellers/resource-schema.ts";
import { archiveResource, upsertPaidResource } from "./calls.ts";

export const ArchiveResource = ({ sellerId, resourceId }: { readonly sellerId: string; readonly resourceId: string }) => (
  <ConfirmDialog
    trigger="Archive"
    look={{ tone: "warn" }}
    title="Archive this resource"
    action="Archive resource"
    nothing="Nothing was archived."
    act={() => call(archiveResource, { id: resourceId, body: { sellerId } })}
  >
    <p className="text-sm">
      Nothing is authorized for it any more. Payments that were submitted are followed to their end, and what you received stays
      on record. You can restore it.
    </p>
  </ConfirmDialog>
);

export function RestoreResource({ resource }: { readonly resource: ListedResource }) {
  const { send, busy, error } = useOperation(upsertPaidResource);
  const { resourceId, configurationSource: _, payToProven: __, ...terms } = resource;
  const body = terms as RequestOf<typeof upsertPaidResource>["body"];
  return (
    <div className="grid grid-cols-1 gap-3">
      <Button tone="primary" aria-busy={busy} onClick={() => send({ id: resourceId, body })}>
        Restore
      </Button>
      <ProblemNotice error={error} nothing="Nothing was restored." />
    </div>
  );
}
