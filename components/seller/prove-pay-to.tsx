"use client";

import type { FormEvent } from "react";
import { stringToHex } from "viem";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Code } from "#components/ui/code.tsx";
import { Field, TextArea } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { Tabs } from "#components/ui/tabs.tsx";
import { ask, findWallet, WalletRefusal } from "#components/wallet/injected.ts";
import { call } from "#lib/http/client.ts";
import type { PaidResource } from "#lib/sellers/resource-schema.ts";
import { challengePayTo, provePayTo } from "./calls.ts";

type Props = {
  readonly resource: Pick<PaidResource, "sellerId" | "resourceId" | "pathTemplate">;
  readonly payTo: string;
  readonly chain: string;
  /** Whether the seller's domain is verified; only then can its 402 response prove an address. */
  readonly verified: boolean;
};

const NOTHING = "The address is not proven.";

const newText = ({ resource: { sellerId }, payTo, chain }: Props) => call(challengePayTo, { body: { sellerId, payTo, chain } });

const proven = { done: () => announce("The address is proven.") };

/** @throws WalletRefusal */
async function signInWallet(text: string, payTo: string): Promise<string> {
  const wallet = findWallet(", or paste a signature");
  const accounts = (await ask(wallet, "eth_requestAccounts")) as readonly unknown[];
  const account = accounts.find((one) => typeof one === "string" && one.toLowerCase() === payTo.toLowerCase());
  if (account === undefined) throw new WalletRefusal(`The wallet shows another account. Choose ${payTo} there, and try again.`);
  const signature = await ask(wallet, "personal_sign", [stringToHex(text), account]);
  if (typeof signature !== "string") throw new WalletRefusal("The wallet did not answer as expected.");
  return signature;
}

function InWallet(props: Props) {
  const { send, busy, error } = useOperation(async () => {
    const { challengeId, text } = await newText(props);
    const signature = await signInWallet(text, props.payTo);
    return call(provePayTo, { body: { method: "signature", challengeId, signature } });
  }, proven);
  return (
    <div className="grid grid-cols-1 gap-4">
      <p className="text-sm">The wallet of this address signs a text. That moves no money and allows no payment.</p>
      <ProblemNotice error={error} nothing={NOTHING} />
      <div className="actions">
        <Button tone="primary" aria-busy={busy} onClick={() => send()}>
          Sign with the wallet
        </Button>
      </div>
    </div>
  );
}

function Pasted(props: Props) {
  const text = useOperation(() => newText(props), { refresh: "never" });
  const check = useOperation(provePayTo, proven);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!text.data) return;
    const signature = formText(new FormData(event.currentTarget), "signature").trim();
    check.send({ body: { method: "signature", challengeId: text.data.challengeId, signature } });
  };
  return (
    <div className="grid grid-cols-1 gap-4">
      <p className="text-sm">
        Sign the text where the key is, byte for byte, as a personal message (EIP-191). A contract answers for itself (EIP-1271).
      </p>
      <ProblemNotice error={text.error} nothing="There is no text yet." />
      {text.data && (
        <form className="grid grid-cols-1 gap-4" method="post" onSubmit={submit}>
          <Code label="The text" text={text.data.text} />
          <TextArea label="Signature" name="signature" rows={3} required autoComplete="off" spellCheck={false} className="mono" />
          <ProblemNotice error={check.error} nothing={NOTHING} />
          <div className="actions">
            <Button tone="primary" type="submit" aria-busy={check.busy}>
              Check the signature
            </Button>
          </div>
        </form>
      )}
      <div className="actions">
        <Button aria-busy={text.busy} onClick={() => text.send()}>
          {text.data ? "Get another text" : "Get the text to sign"}
        </Button>
      </div>
    </div>
  );
}

function ByDomain({ resource: { sellerId, resourceId, pathTemplate } }: Props) {
  const { send, busy, error } = useOperation(provePayTo, proven);
  const open = pathTemplate.includes("{");
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const path = formText(new FormData(event.currentTarget), "path");
    send({ body: { method: "domain", sellerId, resourceId, ...(open && { path }) } });
  };
  return (
    <form className="grid grid-cols-1 gap-4" method="post" onSubmit={submit}>
      <p className="text-sm">
        We call the resource at your verified domain, and its 402 must name this address. It is valid until another organization
        signs for the address.
      </p>
      {open && (
        <Field
          label="Path with its parameters filled in"
          name="path"
          className="mono"
          required
          autoComplete="off"
          spellCheck={false}
          placeholder={pathTemplate}
        />
      )}
      <ProblemNotice error={error} nothing={NOTHING} />
      <div className="actions">
        <Button tone="primary" type="submit" aria-busy={busy}>
          Ask the resource
        </Button>
      </div>
    </form>
  );
}

export const ProvePayTo = (props: Props) => (
  <Tabs
    label="How to prove the address"
    tabs={[
      { value: "wallet", name: "Wallet in this browser", content: <InWallet {...props} /> },
      { value: "pasted", name: "Paste a signature", content: <Pasted {...props} /> },
      ...(props.verified ? [{ value: "domain", name: "By your domain", content: <ByDomain {...props} /> }] : []),
    ]}
  />
);
