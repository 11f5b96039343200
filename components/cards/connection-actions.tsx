"use client";

import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { Field } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import type { CardConnection } from "#lib/cards/contract.ts";
import { call } from "#lib/http/client.ts";
import { updateCardConnection } from "./calls.ts";

const small = { size: "small" } as const;

function ReplaceSecret({ connectionId }: Pick<CardConnection, "connectionId">) {
  return (
    <ConfirmDialog
      trigger="Replace secret"
      look={small}
      title="Replace the signing secret"
      action="Replace secret"
      tone="primary"
      nothing="The secret was not replaced."
      act={(form) =>
        call(updateCardConnection, { connectionId, body: { webhookSecret: formText(form, "webhookSecret").trim() } })
      }
      done="Both secrets are accepted now"
    >
      <p className="text-sm">The secret in use is accepted too, until you end it or replace the secret again.</p>
      <Field
        label="New signing secret"
        name="webhookSecret"
        type="password"
        autoComplete="off"
        spellCheck={false}
        placeholder="whsec_…"
        required
        pattern="\s*whsec_[A-Za-z0-9+\/=_\-]{16,200}\s*"
        title="It begins with whsec_."
      />
    </ConfirmDialog>
  );
}

const EndPrevious = ({ connectionId }: Pick<CardConnection, "connectionId">) => (
  <ConfirmDialog
    trigger="End old secret"
    look={small}
    title="End the old secret"
    action="End old secret"
    tone="primary"
    nothing="Both secrets are still accepted."
    act={() => call(updateCardConnection, { connectionId, body: { dropPrevious: true } })}
    done="Only the new secret is accepted now"
  >
    <p className="text-sm">Events that Stripe signs with the old secret alone are refused from now on.</p>
  </ConfirmDialog>
);

const EndConnection = ({ connectionId, name }: Pick<CardConnection, "connectionId" | "name">) => (
  <ConfirmDialog
    trigger={
      <>
        End<span className="sr"> the connection {name}</span>
      </>
    }
    look={{ tone: "warn", size: "small" }}
    title="End this connection"
    action="End connection"
    nothing="Nothing was ended."
    act={() => call(updateCardConnection, { connectionId, body: { ended: true } })}
    done="The connection has ended"
  >
    <p className="text-sm">
      All its cards are declined from now on. What the cards hold still follows what Stripe says, until its end. This cannot be
      undone: connect again to get a new address.
    </p>
  </ConfirmDialog>
);

export const ConnectionActions = ({ connectionId, name, secrets }: CardConnection) => (
  <>
    <ReplaceSecret connectionId={connectionId} />
    {secrets > 1 && <EndPrevious connectionId={connectionId} />}
    <EndConnection connectionId={connectionId} name={name} />
  </>
);
