"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import type { FormEvent } from "react";
import { stringToHex } from "viem";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Code } from "#components/ui/code.tsx";
import { Field, TextArea } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
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

function useProven() {
  const router = useRouter();
  return () => {
    announce("The address is proven.");
    router.refresh();
  };
}

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
  const done = useProven();
  const sign = useMutation({
    mutationFn: async () => {
      const { challengeId, text } = await newText(props);
      const signature = await signInWallet(text, props.payTo);
      return call(provePayTo, { body: { method: "signature", challengeId, signature } });
    },
    onSuccess: done,
  });
  return (
    <div className="grid grid-cols-1 gap-4">
      <p className="text-sm">The wallet of this address signs a text. That moves no money and allows no payment.</p>
      {sign.error && <ProblemNotice error={sign.error} nothing={NOTHING} />}
      <div className="actions">
        <Button tone="primary" aria-busy={sign.isPending} onClick={() => sign.isPending || sign.mutate()}>
          Sign with the wallet
        </Button>
      </div>
    </div>
  );
}

function Pasted(props: Props) {
  const done = useProven();
  const text = useMutation({ mutationFn: () => newText(props) });
  const check = useMutation({
    mutationFn: (body: { readonly challengeId: string; readonly signature: string }) =>
      call(provePayTo, { body: { method: "signature", ...body } }),
    onSuccess: done,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!text.data || check.isPending) return;
    const signature = formText(new FormData(event.currentTarget), "signature").trim();
    check.mutate({ challengeId: text.data.challengeId, signature });
  };
  return (
    <div className="grid grid-cols-1 gap-4">
      <p className="text-sm">
        Sign the text where the key is, byte for byte, as a personal message (EIP-191). A contract answers for itself (EIP-1271).
      </p>
      {text.error && <ProblemNotice error={text.error} nothing="There is no text yet." />}
      {text.data && (
        <form className="grid grid-cols-1 gap-4" method="post" onSubmit={submit}>
          <Code label="The text" text={text.data.text} />
          <TextArea label="Signature" name="signature" rows={3} required autoComplete="off" spellCheck={false} className="mono" />
          {check.error && <ProblemNotice error={check.error} nothing={NOTHING} />}
          <div className="actions">
            <Button tone="primary" type="submit" aria-busy={check.isPending}>
              Check the signature
            </Button>
          </div>
        </form>
      )}
      <div className="actions">
        <Button aria-busy={text.isPending} onClick={() => text.isPending || text.mutate()}>
          {text.data ? "Get another text" : "Get the text to sign"}
        </Button>
      </div>
    </div>
  );
}

function ByDomain({ resource: { sellerId, resourceId, pathTemplate } }: Props) {
  const done = useProven();
  const asked = useMutation({
    mutationFn: (path: string | undefined) =>
      call(provePayTo, { body: { method: "domain", sellerId, resourceId, ...(path !== undefined && { path }) } }),
    onSuccess: done,
  });
  const open = pathTemplate.includes("{");
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!asked.isPending) asked.mutate(open ? formText(new FormData(event.currentTarget), "path") : undefined);
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
      {asked.error && <ProblemNotice error={asked.error} nothing={NOTHING} />}
      <div className="actions">
        <Button tone="primary" type="submit" aria-busy={asked.isPending}>
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
