"use client";

import { Copy } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Choice } from "#components/ui/choice.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { copyText } from "#components/ui/copy-text.ts";
import { Dialog, DialogClose } from "#components/ui/dialog.tsx";
import { useLeaveGuard } from "#components/ui/leave-guard.ts";
import { Pairs } from "#components/ui/pairs.tsx";
import type { WebhookEndpoint } from "#lib/webhooks/contract.ts";

/** Shows a secret once; the dialog closes only after the person has ticked that they saved the secret. */
export function WebhookSecretDialog({ made, onSaved }: { readonly made: WebhookEndpoint | null; readonly onSaved: () => void }) {
  const router = useRouter();
  const [saved, setSaved] = useState(false);
  // Warn the person before they leave the page, because the secret cannot be shown again.
  useLeaveGuard(made !== null);
  const change = (open: boolean) => {
    if (open) return;
    setSaved(false);
    onSaved();
    router.refresh();
  };
  return (
    <Dialog
      insistent
      title="Save the signing secret now"
      open={made !== null}
      onOpenChange={change}
      footer={
        <DialogClose tone="primary" disabled={!saved}>
          Done
        </DialogClose>
      }
    >
      {made && (
        <>
          <p>This is the only time you see it. Your receiver needs it to verify our messages.</p>
          <div className="grid grid-cols-1 items-center gap-3 rounded-sm border border-dashed border-border-strong bg-sunken p-4 md:grid-cols-[minmax(0,1fr)_auto]">
            <code className="text-[0.9375rem] leading-6 wrap-anywhere select-all">{made.secret}</code>
            <Button onClick={() => void copyText(made.secret ?? "")}>
              <Copy className="icon" aria-hidden />
              Copy secret
            </Button>
          </div>
          <Pairs items={[["Public key", <Copyable key="public" value={made.publicKey} label="public key" />]]} />
          <Choice type="checkbox" checked={saved} onChange={(event) => setSaved(event.target.checked)}>
            <strong>I saved it in a safe place</strong>
            <span>Then you can close this.</span>
          </Choice>
        </>
      )}
    </Dialog>
  );
}
