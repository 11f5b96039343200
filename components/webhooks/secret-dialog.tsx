import { Copyable } from "#components/ui/copyable.tsx";
import { SecretDialog } from "#components/ui/secret-dialog.tsx";
import type { WebhookEndpoint } from "#lib/webhooks/contract.ts";

type Props = { readonly made: WebhookEndpoint | null; readonly onSaved: () => void };

export const WebhookSecretDialog = ({ made, onSaved }: Props) => (
  <SecretDialog
    title="Save the signing secret now"
    why="This is the only time you see it. Your receiver needs it to verify our messages."
    copy="Copy secret"
    secret={made && (made.secret ?? "")}
    facts={made ? [["Public key", <Copyable key="public" value={made.publicKey} label="public key" />]] : []}
    onSaved={onSaved}
  />
);
