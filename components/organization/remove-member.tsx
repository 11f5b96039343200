"use client";

import { useState } from "react";
import { Choice } from "#components/ui/choice.tsx";
import { ReasonDialog } from "#components/ui/confirm-dialog.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { call } from "#lib/http/client.ts";
import type { Member } from "#lib/identity/members/contract.ts";
import type { ShownKey } from "#lib/pages/settings/view-members.ts";
import { removeMember } from "./calls.ts";

type Props = { readonly member: Member; readonly keys: readonly ShownKey[] };
type KeysChoice = "revoke" | "keep";

const choices = [
  ["revoke", "Revoke these keys", "They stop with the next request. Make new ones for agents that continue to work."],
  [
    "keep",
    "Keep these keys",
    "They continue to work. Anyone who has a copy can use them. Connections of programs end in any case.",
  ],
] as const;

type KeysProps = Pick<Props, "keys"> & { readonly choice: KeysChoice | null; readonly choose: (choice: KeysChoice) => void };

const KeysMade = ({ keys, choice, choose }: KeysProps) => (
  <fieldset className="mt-3">
    <legend className="label mb-2">This person made these keys and connections</legend>
    <ul className="mb-2">
      {keys.map(({ keyId, name, preview }) => (
        <li key={keyId}>
          <Untrusted>{name}</Untrusted> <code>{preview}</code>
        </li>
      ))}
    </ul>
    <div className="choices">
      {choices.map(([value, title, effect]) => (
        <Choice
          key={value}
          type="radio"
          name="keys"
          value={value}
          required
          checked={choice === value}
          onChange={() => choose(value)}
        >
          <strong>{title}</strong>
          <span>{effect}</span>
        </Choice>
      ))}
    </div>
  </fieldset>
);

export function RemoveMember({ member, keys }: Props) {
  const [choice, setChoice] = useState<KeysChoice | null>(null);
  const { name, organizationId, userId } = member;
  return (
    <ReasonDialog
      trigger={
        <>
          Remove<span className="sr"> {name}</span>
        </>
      }
      look={{ tone: "warn", size: "small" }}
      title={`Remove ${name}`}
      action="Remove member"
      nothing="Nobody was removed."
      act={(reason) => call(removeMember, { organizationId, userId, body: { reason, ...(choice !== null && { keys: choice }) } })}
    >
      <p>
        This person loses access to the organization with the next request, and invitations that they sent are canceled. Service
        accounts, mandates and payments stay: they are the organization’s.
      </p>
      {keys.length > 0 && <KeysMade keys={keys} choice={choice} choose={setChoice} />}
    </ReasonDialog>
  );
}
