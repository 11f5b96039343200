"use client";

import { Plus } from "lucide-react";
import { useState } from "react";
import { Choice } from "#components/ui/choice.tsx";
import { Field } from "#components/ui/field.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import type { WebhookEndpoint } from "#lib/webhooks/contract.ts";
import { eventChoices } from "./event-choices.ts";
import { WebhookSecretDialog } from "./secret-dialog.tsx";

const opener = (
  <>
    <Plus className="icon" aria-hidden />
    Add an endpoint
  </>
);

export function NewEndpoint() {
  const [made, setMade] = useState<WebhookEndpoint | null>(null);
  const dialog = useFormDialog(() => import("#lib/webhooks/contract.ts").then((contract) => contract.createWebhookEndpoint), {
    defaults: { url: "", eventTypes: [], full: false },
    done: setMade,
    refresh: "never",
  });
  const { error: _, ...control } = dialog.state.field("eventTypes");
  const { error: __, ...whole } = dialog.state.field("full");
  return (
    <>
      <FormDialog
        {...dialog}
        trigger={opener}
        look={{ tone: "primary" }}
        title="Add a webhook endpoint"
        nothing="Nothing was created."
        submit="Add endpoint"
      >
        <Field
          label="Address"
          type="url"
          autoComplete="off"
          spellCheck={false}
          placeholder="https://example.com/hooks"
          hint="We send each event there by POST, with a signature."
          {...dialog.state.field("url")}
        />
        <fieldset>
          <legend className="label mb-2">Events</legend>
          <p className="pb-2 text-sm text-muted">Choose the events to send. If you choose none, all are sent.</p>
          {eventChoices.map(([type, name]) => (
            <Choice key={type} {...control} type="checkbox" value={type}>
              <strong>{name}</strong>
              <span className="mono">{type}</span>
            </Choice>
          ))}
        </fieldset>
        <Choice {...whole} type="checkbox">
          <strong>Send whole events</strong>
          <span>Messages also name who acted, and can contain names of people and reasons that they wrote.</span>
        </Choice>
      </FormDialog>
      <WebhookSecretDialog made={made} onSaved={() => setMade(null)} />
    </>
  );
}
