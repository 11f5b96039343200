"use client";

import { Check, Copy } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { Button } from "./button.tsx";
import { copyText } from "./copy-text.ts";
import { Tabs } from "./tabs.tsx";

const COPIED_MS = 2000;

function CopyText({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = async () => setCopied(await copyText(text));
  const Icon = copied ? Check : Copy;
  return (
    <Button tone="quiet" size="small" onClick={() => void copy()}>
      <Icon className="icon" aria-hidden />
      {copied ? "Copied" : "Copy"}
      <span className="sr"> {label}</span>
    </Button>
  );
}

type Snippet = { readonly label: string; readonly text: string };

export function Code({ label, text }: Snippet) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <div className="flex items-center justify-between gap-3 rounded-t-sm border bg-sunken px-3 py-1 text-sm">
        <strong className="font-semibold" id={id}>
          {label}
        </strong>
        <CopyText text={text} label={label} />
      </div>
      <pre
        className="overflow-x-auto rounded-b-sm border border-t-0 bg-surface p-3 font-mono text-xs/5 [tab-size:2]"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- Keyboard users must focus the text to scroll its long lines.
        tabIndex={0}
        aria-label={label}
      >
        <code className="text-xs/5 wrap-normal">{text}</code>
      </pre>
    </section>
  );
}

type TabsProps = { readonly label: string; readonly snippets: readonly (Snippet & { readonly name: string })[] };

export const CodeTabs = ({ label, snippets }: TabsProps) => (
  <Tabs label={label} tabs={snippets.map(({ name, ...snippet }) => ({ value: name, name, content: <Code {...snippet} /> }))} />
);
