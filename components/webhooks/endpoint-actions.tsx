"use client";

import { useRouter } from "next/navigation";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { call } from "#lib/http/client.ts";
import type { WebhookEndpoint } from "#lib/webhooks/contract.ts";
import { deleteWebhookEndpoint, updateWebhookEndpoint } from "./calls.ts";
import { RotateSecret } from "./rotate-secret.tsx";
import { SendTest } from "./send-test.tsx";

function SwitchEndpoint({ webhookEndpointId: id, status }: Pick<WebhookEndpoint, "webhookEndpointId" | "status">) {
  const isEnabled = status === "enabled";
  return (
    <ConfirmDialog
      trigger={isEnabled ? "Pause" : "Enable"}
      look={{ size: "small" }}
      title={isEnabled ? "Pause this endpoint" : "Enable this endpoint"}
      action={isEnabled ? "Pause" : "Enable"}
      tone="primary"
      nothing="Nothing was changed."
      act={() => call(updateWebhookEndpoint, { id, body: { status: isEnabled ? "paused" : "enabled" } })}
    >
      <p className="text-sm">
        {isEnabled
          ? "Events wait until you enable it again. None is lost."
          : "It gets all events since the last one that was read for it, in their order."}
      </p>
    </ConfirmDialog>
  );
}

function DeleteEndpoint({ webhookEndpointId: id }: Pick<WebhookEndpoint, "webhookEndpointId">) {
  const router = useRouter();
  return (
    <ConfirmDialog
      trigger="Delete"
      look={{ tone: "warn", size: "small" }}
      title="Delete this endpoint"
      action="Delete endpoint"
      nothing="Nothing was deleted."
      act={() => call(deleteWebhookEndpoint, { id, body: {} })}
      done={() => router.push("/settings/webhooks")}
      refresh="never"
    >
      <p className="text-sm">Nothing more is sent to it, and its list of deliveries is deleted. This cannot be undone.</p>
    </ConfirmDialog>
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
