"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogClose } from "#components/ui/dialog.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { mutation } from "#lib/http/query.ts";
import type { ListedResource } from "#lib/sellers/resource-schema.ts";
import { archiveResource, upsertPaidResource } from "./calls.ts";

export function ArchiveResource({ sellerId, resourceId }: { readonly sellerId: string; readonly resourceId: string }) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const archive = useMutation({
    ...mutation(archiveResource),
    onSuccess: () => {
      setOpen(false);
      router.refresh();
    },
  });
  return (
    <Dialog
      trigger="Archive"
      look={{ tone: "warn" }}
      title="Archive this resource"
      open={open}
      onOpenChange={setOpen}
      footer={
        <>
          <DialogClose>Cancel</DialogClose>
          <Button
            tone="danger"
            aria-busy={archive.isPending}
            onClick={() => archive.isPending || archive.mutate({ id: resourceId, body: { sellerId } })}
          >
            Archive resource
          </Button>
        </>
      }
    >
      <p className="text-sm">
        Nothing is authorized for it any more. Payments that were submitted are followed to their end, and what you received stays
        on record. You can restore it.
      </p>
      {archive.error && <ProblemNotice error={archive.error} nothing="Nothing was archived." />}
    </Dialog>
  );
}

export function RestoreResource({ resource }: { readonly resource: ListedResource }) {
  const router = useRouter();
  const restore = useMutation({ ...mutation(upsertPaidResource), onSuccess: () => router.refresh() });
  const { resourceId, configurationSource: _, payToProven: __, ...terms } = resource;
  const bring = () =>
    restore.isPending || restore.mutate({ id: resourceId, body: terms as Parameters<typeof restore.mutate>[0]["body"] });
  return (
    <div className="grid grid-cols-1 gap-3">
      <Button tone="primary" aria-busy={restore.isPending} onClick={bring}>
        Restore
      </Button>
      {restore.error && <ProblemNotice error={restore.error} nothing="Nothing was restored." />}
    </div>
  );
}
