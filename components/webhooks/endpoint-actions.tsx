"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogClose } from "#components/ui/dialog.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { call } from "#lib/http/client.ts";
import type { WebhookEndpoint } from "#lib/webhooks/contract.ts";
import { deleteWebhookEndpoint } from "./calls.ts";
import { RotateSecret } from "./rotate-secret.tsx";
import { SendTest } from "./send-test.tsx";

type OfEndpoint = { readonly webhookEndpointId: string };

/** Enabling needs a proof of identity; if it is missing, the error in the form asks for it. */
function SwitchEndpoint({ webhookEndpointId: id, status }: Pick<WebhookEndpoint, "webhookEndpointId" | "status">) {
  const router = useRouter();
  const isEnabled = status === "enabled";
  const next = isEnabled ? "paused" : "enabled";
  const dialog = useFormDialog(() => import("#lib/webhooks/contract.ts").then((contract) => contract.updateWebhookEndpoint), {
    defaults: { status: next },
    params: { id },
    onDone: () => router.refresh(),
  });
  return (
    <FormDialog
      {...dialog}
      trigger={isEnabled ? "Pause" : "Enable"}
      look={{ size: "small" }}
      title={isEnabled ? "Pause this endpoint" : "Enable this endpoint"}
      nothing="Nothing was changed."
      submit={isEnabled ? "Pause" : "Enable"}
    >
      <input type="hidden" {...dialog.state.form.register("status")} value={next} />
      <p className="text-sm">
        {isEnabled
          ? "Events wait until you enable it again. None is lost."
          : "It gets all events since the last one that was read for it, in their order."}
      </p>
    </FormDialog>
  );
}

function DeleteEndpoint({ webhookEndpointId: id }: OfEndpoint) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const deleting = useMutation({
    mutationFn: () => call(deleteWebhookEndpoint, { id, body: {} }),
    onSuccess: () => router.push("/settings/webhooks"),
  });
  return (
    <Dialog
      trigger="Delete"
      look={{ tone: "warn", size: "small" }}
      title="Delete this endpoint"
      open={open}
      onOpenChange={setOpen}
      footer={
        <>
          <DialogClose>Cancel</DialogClose>
          <Button tone="danger" aria-busy={deleting.isPending} onClick={() => deleting.isPending || deleting.mutate()}>
            Delete endpoint
          </Button>
        </>
      }
    >
      <p className="text-sm">Nothing more is sent to it, and its list of deliveries is deleted. This cannot be undone.</p>
      {deleting.error && <ProblemNotice error={deleting.error} nothing="Nothing was deleted." />}
    </Dialog>
  );
}

export const EndpointActions = ({ webhookEndpointId, status }: Pick<WebhookEndpoint, "webhookEndpointId" | "status">) => (
  <>
    {status === "enabled" && <SendTest webhookEndpointId={webhookEndpointId} />}
    <SwitchEndpoint key={status} webhookEndpointId={webhookEndpointId} status={status} />
    <RotateSecret webhookEndpointId={webhookEndpointId} />
    <DeleteEndpoint webhookEndpointId={webhookEndpointId} />
  </>
);
