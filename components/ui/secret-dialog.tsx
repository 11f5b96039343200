"use client";

import { Copy } from "lucide-react";
import { useRouter } from "next/navigation";
import { type ComponentProps, useState } from "react";
import { Button } from "./button.tsx";
import { Choice } from "./choice.tsx";
import { copyText } from "./copy-text.ts";
import { Dialog, DialogClose } from "./dialog.tsx";
import { useLeaveGuard } from "./leave-guard.ts";
import { Pairs } from "./pairs.tsx";

type Props = {
  readonly title: string;
  readonly why: string;
  readonly copy: string;
  /** Null while there is nothing to show and the dialog is closed. */
  readonly secret: string | null;
  readonly facts: ComponentProps<typeof Pairs>["items"];
  readonly onSaved: () => void;
  readonly next?: { readonly label: string; readonly href: string } | undefined;
};

const Secret = ({ secret, copy }: { readonly secret: string; readonly copy: string }) => (
  <div className="grid grid-cols-1 items-center gap-3 rounded-sm border border-dashed border-border-strong bg-sunken p-4 md:grid-cols-[minmax(0,1fr)_auto]">
    <code className="text-[0.9375rem] leading-6 select-all">{secret}</code>
    <Button onClick={() => void copyText(secret)}>
      <Copy className="icon" aria-hidden />
      {copy}
    </Button>
  </div>
);

/** Shows a secret once; the dialog closes only after the person has ticked that they saved the secret. */
export function SecretDialog({ title, why, copy, secret, facts, onSaved, next }: Props) {
  const router = useRouter();
  const [saved, setSaved] = useState(false);
  // Warn the person before they leave the page, because the secret cannot be shown again.
  useLeaveGuard(secret !== null);
  const close = () => {
    setSaved(false);
    onSaved();
  };
  const change = (open: boolean) => {
    if (open) return;
    close();
    router.refresh();
  };
  const leaveFor = (href: string) => {
    close();
    router.push(href);
  };
  return (
    <Dialog
      insistent
      title={title}
      open={secret !== null}
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
      {secret !== null && (
        <>
          <p>{why}</p>
          <Secret secret={secret} copy={copy} />
          <Pairs items={facts} />
          <Choice type="checkbox" checked={saved} onChange={(event) => setSaved(event.target.checked)}>
            <strong>I saved it in a safe place</strong>
            <span>Then you can close this.</span>
          </Choice>
        </>
      )}
    </Dialog>
  );
}
