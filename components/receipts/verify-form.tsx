"use client";

import { type ChangeEvent, type FormEvent, useRef, useState } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field, TextArea } from "#components/ui/field.tsx";
import { useHydrated } from "#components/ui/hydrated.ts";
import { Notice } from "#components/ui/notice.tsx";
import { early } from "#components/ui/on-demand.tsx";
import { Panel } from "#components/ui/panel.tsx";
import { NOT_LOADED } from "#components/ui/said-error.ts";
import { Scripted } from "#components/ui/scripted.tsx";
import type { Verdict } from "#lib/receipts/verify-receipt.ts";
import { KEYS_PATH, usePublishedKeys } from "./published-keys.ts";
import { StepList } from "./step-list.tsx";

const BYTES_MAX = 1_000_000;
type Checked = {
  readonly verdict: Verdict;
  /** Whether the keys in the form differ from the published keys of this service. */
  readonly pasted: boolean;
};

function PastedKeys({ issuer }: { readonly issuer: string }) {
  const address = new URL(KEYS_PATH, issuer).href;
  return (
    <p className="mt-1">
      You entered the keys yourself. Make sure that they are those at <span className="wrap-anywhere">{address}</span>.
    </p>
  );
}

function VerdictNotice({ verdict, pasted }: Checked) {
  if (!verdict.ok)
    return (
      <Notice tone="danger">
        <p>
          <strong>Not verified.</strong> {verdict.detail}
        </p>
      </Notice>
    );
  return (
    <Notice tone={verdict.withProof ? "positive" : "caution"}>
      <p>
        <strong>{verdict.withProof ? "Verified." : "Signature verified."}</strong> {verdict.proved}
      </p>
      {pasted && <PastedKeys issuer={verdict.claims.iss} />}
    </Notice>
  );
}

/** The <output> is on the page before a result, because screen readers announce only changes of its text. */
const Result = ({ checked, error }: { readonly checked: Checked | null; readonly error: string | null }) => (
  <Panel id="verdict" title="Verdict">
    <div className="panel-body grid gap-5">
      <output className="block">
        {checked && <VerdictNotice {...checked} />}
        {error !== null && <Notice tone="danger">{error}</Notice>}
        {!checked && error === null && <p className="text-muted">Enter a receipt and the keys, then verify it.</p>}
      </output>
      {checked && <StepList verdict={checked.verdict} />}
    </div>
  </Panel>
);

const INSECURE =
  "Your browser checks signatures on https pages only. Open this page over https, or check the receipt with npm run verify.";

/** Loads the code when the reader uses the form, because it is large. */
const loadVerify = () => import("#lib/receipts/verify-receipt.ts").then(({ verifyReceiptText }) => verifyReceiptText);

/** When the reader changes a text, the old result is removed, because it is about the old text. */
function useReceipt() {
  const published = usePublishedKeys();
  const [answer, setAnswer] = useState("");
  const [entered, setEntered] = useState<string | null>(null);
  const [checked, setChecked] = useState<Checked | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  // Changes with each attempt and each new text. A result of an older number is dropped.
  const last = useRef(0);
  // Browsers offer WebCrypto only to pages from https or from this machine.
  const insecure = useHydrated() && !window.isSecureContext;
  const keys = entered ?? published ?? "";
  const forget = () => {
    last.current += 1;
    setChecked(null);
    setError(null);
    setBusy(false);
  };
  const change = (set: (text: string) => void) => (text: string) => {
    set(text);
    forget();
  };
  const verify = async () => {
    forget();
    if (insecure) return;
    const attempt = last.current;
    setBusy(true);
    const verifyText = await loadVerify().catch(() => null);
    const verdict = await verifyText?.(answer, keys).catch(() => null);
    if (last.current !== attempt) return;
    setBusy(false);
    if (verdict) setChecked({ verdict, pasted: keys !== published });
    else setError(verifyText ? "This browser cannot check the receipt. Use a newer one." : NOT_LOADED);
  };
  return {
    answer,
    keys,
    checked,
    error: insecure ? INSECURE : error,
    busy,
    verify,
    setError,
    setAnswer: change(setAnswer),
    setKeys: change(setEntered),
  };
}

export function VerifyForm() {
  const { answer, keys, checked, error, busy, verify, setError, setAnswer, setKeys } = useReceipt();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void verify();
  };
  const readFile = async ({ currentTarget: { files } }: ChangeEvent<HTMLInputElement>) => {
    const file = files?.[0];
    if (!file) return;
    const text = file.size > BYTES_MAX ? null : await file.text().catch(() => null);
    setAnswer(text ?? "");
    if (text === null) setError("The file cannot be read, or is larger than a receipt.");
  };
  return (
    <div className="stack">
      <Panel id="receipt" title="Receipt and keys">
        <form className="panel-body grid grid-cols-1 gap-5" method="post" onSubmit={submit} {...early(loadVerify)}>
          <Scripted>
            <TextArea
              label="Answer with the receipt"
              hint="The JSON that getPaymentReceipt, getApprovalReceipt or getExecutionReceipt answered."
              className="mono"
              rows={8}
              spellCheck={false}
              autoComplete="off"
              required
              value={answer}
              onChange={(event) => setAnswer(event.currentTarget.value)}
            />
            <Field
              label="Or a saved file"
              type="file"
              accept=".json,application/json"
              onChange={(event) => void readFile(event)}
            />
            <TextArea
              label="Published keys"
              hint={`The JSON at ${KEYS_PATH} of the service that issued the receipt. The keys of this service are filled in if it publishes some.`}
              className="mono"
              rows={6}
              spellCheck={false}
              autoComplete="off"
              required
              value={keys}
              onChange={(event) => setKeys(event.currentTarget.value)}
            />
          </Scripted>
          <div className="actions">
            <Button tone="primary" type="submit" aria-busy={busy}>
              Verify
            </Button>
          </div>
        </form>
      </Panel>
      <Result checked={checked} error={error} />
    </div>
  );
}
