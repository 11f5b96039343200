import { Copyable } from "#components/ui/copyable.tsx";
import { SecretDialog } from "#components/ui/secret-dialog.tsx";
import type { ServiceAccount } from "#lib/identity/keys/contract.ts";
import { mayText } from "./capability-words.ts";

/** `graceText` says how long the previous key works. */
export type MadeKey = ServiceAccount & { readonly apiKey: string; readonly graceText?: string };

type Props = {
  readonly made: MadeKey | null;
  readonly onSaved: () => void;
  readonly next?: { readonly label: string; readonly href: string } | undefined;
};

const factsOf = ({ serviceAccountId, keyPreview, capabilities, graceText }: MadeKey) => [
  ["Service account", <Copyable key="id" value={serviceAccountId} label="service account id" />] as const,
  ["Known as", <code key="preview">{keyPreview}</code>] as const,
  ["May", mayText(capabilities)] as const,
  ...(graceText === undefined ? [] : [["The previous key", graceText] as const]),
];

export const KeyDialog = ({ made, onSaved, next }: Props) => (
  <SecretDialog
    title={`Save the key of ${made?.name ?? "this account"} now`}
    why="This is the only time you see it. We keep a fingerprint, not the key."
    copy="Copy key"
    secret={made?.apiKey ?? null}
    facts={made ? factsOf(made) : []}
    onSaved={onSaved}
    next={next}
  />
);
