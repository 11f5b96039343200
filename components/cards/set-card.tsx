"use client";

import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { Field, Select } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import type { Card } from "#lib/cards/contract.ts";
import { call } from "#lib/http/client.ts";
import type { CardsView } from "#lib/pages/settings/view-cards.ts";
import { visible } from "#lib/visible-text.ts";
import { setCard } from "./calls.ts";

type Props = Pick<CardsView, "mandates" | "agents"> & {
  readonly connectionId: string;
  /** Null for a card that is added. */
  readonly card: Card | null;
};

/** A card pays under one mandate, for one agent. */
export function SetCard({ connectionId, card, mandates, agents }: Props) {
  const act = (form: FormData) =>
    call(setCard, {
      connectionId,
      cardId: card?.cardId ?? formText(form, "cardId").trim(),
      body: {
        name: formText(form, "name").trim(),
        mandateId: formText(form, "mandateId"),
        serviceAccountId: formText(form, "serviceAccountId"),
      },
    });
  return (
    <ConfirmDialog
      trigger={
        card ? (
          <>
            Change<span className="sr"> {card.name}</span>
          </>
        ) : (
          "Add a card"
        )
      }
      look={{ size: "small" }}
      title={card ? "Change this card" : "Add a card"}
      action={card ? "Save" : "Add card"}
      tone="primary"
      nothing={card ? "The card was not changed." : "No card was added."}
      act={act}
      done={card ? "The card is changed" : "The card may pay now"}
    >
      {card === null && (
        <Field
          label="Card at Stripe"
          name="cardId"
          autoComplete="off"
          spellCheck={false}
          placeholder="ic_…"
          required
          pattern="\s*ic_[A-Za-z0-9_]{1,120}\s*"
          title="The id of a card at Stripe, which begins with ic_."
          hint="The id of the card, not its number. Stripe shows it on the card’s page."
        />
      )}
      <Field label="Name" name="name" autoComplete="off" required maxLength={100} defaultValue={card?.name} />
      <Select
        label="Mandate"
        name="mandateId"
        options={mandates.map(({ mandateId, name }) => [mandateId, visible(name)])}
        defaultValue={card?.mandateId}
        hint="Only mandates that admit payments by card."
      />
      <Select
        label="Agent"
        name="serviceAccountId"
        options={agents.map(({ serviceAccountId, name }) => [serviceAccountId, visible(name)])}
        defaultValue={card?.serviceAccountId}
        hint="The card pays for it, and is declined while it is paused or revoked."
      />
    </ConfirmDialog>
  );
}

export const RemoveCard = ({ connectionId, card: { cardId, name } }: { readonly connectionId: string; readonly card: Card }) => (
  <ConfirmDialog
    trigger={
      <>
        Remove<span className="sr"> {name}</span>
      </>
    }
    look={{ tone: "warn", size: "small" }}
    title="Remove this card"
    action="Remove card"
    nothing="The card was not removed."
    act={() => call(setCard, { connectionId, cardId, body: { mandateId: null } })}
    done="The card is removed"
  >
    <p className="text-sm">
      It is declined from now on. What it holds stays held under the mandate that allowed it. At Stripe the card stays as it is.
    </p>
  </ConfirmDialog>
);
