"use client";

import { Plus } from "lucide-react";
import { useState } from "react";
import { Choice } from "#components/ui/choice.tsx";
import { Field } from "#components/ui/field.tsx";
import { FormDialog } from "#components/ui/form-dialog.tsx";
import { useOperationForm } from "#components/ui/form.tsx";
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
  const [open, setOpen] = useState(false);
  const [made, setMade] = useState<WebhookEndpoint | null>(null);
  const state = useOperationForm(() => import("#lib/webhooks/contract.ts").then((contract) => contract.createWebhookEndpoint), {
    defaults: { url: "", eventTypes: [], full: false },
    onDone: (endpoint) => {
      setOpen(false);
      setMade(endpoint);
    },
  });
  const { error: _, ...control } = state.field("eventTypes");
  const { error: __, ...whole } = state.field("full");
  return (
    <>
      <FormDialog
        trigger={opener}
        look={{ tone: "primary" }}
        title="Add a webhook endpoint"
        open={open}
        onOpenChange={setOpen}
        state={state}
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
          {...state.field("url")}
        />
        <fieldset>
          <legend className="label mb-2">Events</legend>
          <p className="pb-2 text-sm text-muted">Tick none to get all.</p>
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
