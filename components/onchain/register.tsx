"use client";

import { type FormEvent, useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Choice } from "#components/ui/choice.tsx";
import { Field, Select } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { Scripted } from "#components/ui/scripted.tsx";
import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/onchain/registry/registration-contract.ts";
import type { PreparedRegistration } from "#lib/onchain/registry/registration-contract.ts";
import { Sign } from "./sign.tsx";
import type { Token } from "./words.ts";

const prepareRegistration = atAddress<typeof contract.prepareRegistration>({
  id: "prepareRegistration",
  method: "GET",
  path: "/api/v1/onchain/mandates/{id}/registration-authorizations",
});

type Props = {
  readonly mandateId: string;
  /** The only addresses that the policy allows; null if it has no such list. */
  readonly payees: readonly string[] | null;
  readonly token: Token;
};

const Payee = ({ payees }: Pick<Props, "payees">) =>
  payees === null ? (
    <Field
      label="Address that may be paid"
      name="payee"
      required
      pattern="0x[0-9a-fA-F]{40}"
      title="0x and 40 hexadecimal digits"
      placeholder="0x…"
      autoComplete="off"
      spellCheck={false}
      hint="One address for each registration. Ask the seller for it; its 402 names it as payTo."
    />
  ) : (
    <Select
      label="Address that may be paid"
      name="payee"
      options={payees.map((payee) => [payee, payee])}
      hint="One address for each registration, of those that the policy allows."
    />
  );

const Path = () => (
  <details>
    <summary>How it pays</summary>
    <fieldset className="choices mt-2">
      <legend className="sr">How it pays</legend>
      <Choice type="radio" name="path" value="proofs" defaultChecked>
        <strong>By signed transfers</strong>
        <span>Any x402 seller takes them, and the seller pays the gas. Each period has a fixed number of payments.</span>
      </Choice>
      <Choice type="radio" name="path" value="module">
        <strong>By our payment contract</strong>
        <span>The chain counts the exact sum of each period. We send the payment and pay the gas.</span>
      </Choice>
    </fieldset>
  </details>
);

export function Register({ mandateId, payees, token }: Props) {
  const [prepared, setPrepared] = useState<PreparedRegistration | null>(null);
  const prepare = useOperation(prepareRegistration, { done: setPrepared, refresh: "never" });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const path = formText(form, "path") === "module" ? "module" : "proofs";
    prepare.send({ id: mandateId, query: { payeeAddress: formText(form, "payee").trim(), path } });
  };
  const done = () => {
    setPrepared(null);
    announce("The registration is on its way");
  };
  if (prepared !== null)
    return <Sign mandateId={mandateId} prepared={prepared} token={token} onBack={() => setPrepared(null)} onDone={done} />;
  return (
    <form className="grid grid-cols-1 gap-4" aria-label="Register on chain" method="post" onSubmit={submit}>
      <Scripted>
        <Payee payees={payees} />
        <Path />
      </Scripted>
      <ProblemNotice error={prepare.error} nothing="There is nothing to sign." />
      <div className="actions">
        <Button tone="primary" type="submit" aria-busy={prepare.busy}>
          See what you sign
        </Button>
      </div>
    </form>
  );
}
