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
import { mayText } from "./capability-words.ts";
import type { ServiceAccount } from "#lib/identity/keys/contract.ts";

/** `graceText` says how long the previous key works. */
export type MadeKey = ServiceAccount & { readonly apiKey: string; readonly graceText?: string };

type Props = {
  readonly made: MadeKey | null;
  readonly onSaved: () => void;
  readonly next?: { readonly label: string; readonly href: string } | undefined;
};

const Secret = ({ apiKey }: { readonly apiKey: string }) => (
  <div className="grid grid-cols-1 items-center gap-3 rounded-sm border border-dashed border-border-strong bg-sunken p-4 md:grid-cols-[minmax(0,1fr)_auto]">
    <code className="text-[0.9375rem] leading-6 select-all">{apiKey}</code>
    <Button onClick={() => void copyText(apiKey)}>
      <Copy className="icon" aria-hidden />
      Copy key
    </Button>
  </div>
);

const factsOf = ({ serviceAccountId, keyPreview, capabilities, graceText }: MadeKey) => [
  ["Service account", <Copyable key="id" value={serviceAccountId} label="service account id" />] as const,
  ["Known as", <code key="preview">{keyPreview}</code>] as const,
  ["May", mayText(capabilities)] as const,
  ...(graceText === undefined ? [] : [["The previous key", graceText] as const]),
];

/** Shows a key once; the dialog closes only after the person has ticked that they saved the key. */
export function SecretDialog({ made, onSaved, next }: Props) {
  const router = useRouter();
  const [saved, setSaved] = useState(false);
  // Warn the person before they leave the page, because the key cannot be shown again.
  useLeaveGuard(made !== null);
  const change = (open: boolean) => {
    if (open) return;
    setSaved(false);
    onSaved();
    router.refresh();
  };
  const leaveFor = (href: string) => {
    setSaved(false);
    onSaved();
    router.push(href);
  };
  return (
    <Dialog
      insistent
      title={`Save the key of ${made?.name ?? "this account"} now`}
      open={made !== null}
      onOpenChange={change}
      footer={
        <>
          <DialogClose {...(next === undefined && { tone: "primary" as const })} disabled={!saved}>
            Done
          </DialogClose>
          {next !== undefined && (
            <Button tone="primary" disabled={!saved} onClick={() => leaveFor(next.href)}>
              {next.label}
            </Button>
          )}
        </>
      }
    >
      {made && (
        <>
          <p>This is the only time you see it. We keep a fingerprint, not the key.</p>
          <Secret apiKey={made.apiKey} />
          <Pairs items={factsOf(made)} />
          <Choice type="checkbox" checked={saved} onChange={(event) => setSaved(event.target.checked)}>
            <strong>I saved it in a safe place</strong>
            <span>Then you can close this.</span>
          </Choice>
        </>
      )}
    </Dialog>
  );
}
