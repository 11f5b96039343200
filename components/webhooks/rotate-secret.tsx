"use client";

import { useState } from "react";
import { Select } from "#components/ui/field.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import type { WebhookEndpoint } from "#lib/webhooks/contract.ts";
import { WebhookSecretDialog } from "./secret-dialog.tsx";

const graces = [
  ["0", "It signs nothing more"],
  ["3600", "It signs for another hour"],
  ["86400", "It signs for another 24 hours"],
  ["604800", "It signs for another 7 days"],
] as const;

export function RotateSecret({ webhookEndpointId }: { readonly webhookEndpointId: string }) {
  const [made, setMade] = useState<WebhookEndpoint | null>(null);
  const dialog = useFormDialog(() => import("#lib/webhooks/contract.ts").then((contract) => contract.rotateWebhookSecret), {
    defaults: { gracePeriodSeconds: 86_400 },
    params: { id: webhookEndpointId },
    done: setMade,
    refresh: "never",
  });
  return (
    <>
      <FormDialog
        {...dialog}
        trigger="Rotate secret"
        look={{ size: "small" }}
        title="Rotate the signing secret"
        nothing="The secret was not changed."
        submit="Make a new secret"
      >
        <p className="text-sm">Until the old secret ends, each message has a signature of both.</p>
        <Select
          label="The secret in use"
          options={graces}
          {...dialog.state.field("gracePeriodSeconds", { valueAsNumber: true })}
        />
      </FormDialog>
      <WebhookSecretDialog made={made} onSaved={() => setMade(null)} />
    </>
  );
}
