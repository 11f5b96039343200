"use client";

import { useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Code } from "#components/ui/code.tsx";
import { Copyable } from "#components/ui/copyable.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { atAddress, call } from "#lib/http/client.ts";
import { formatAmount } from "#lib/money.ts";
import type * as contract from "#lib/onchain/registry/registration-contract.ts";
import type { PreparedRegistration } from "#lib/onchain/registry/registration-contract.ts";
import { connect, signDelegation, signLimits } from "./sign-registration.ts";
import { KeyWords, LimitFacts, type Limits } from "./signing-words.tsx";
import type { Token } from "./words.ts";

const registerMandate = atAddress<typeof contract.registerMandate>({
  id: "registerMandate",
  method: "POST",
  path: "/api/v1/onchain/mandates/{id}/registration-authorizations",
});

const iso = (seconds: string): string => new Date(Number(seconds) * 1_000).toISOString();

/** Takes the limits from the data that the wallet signs, so that the page shows no other limits. */
function limitsOf({ chain, typedData: { message } }: PreparedRegistration, { asset, decimals }: Token): Limits {
  const { account, payee, perPaymentLimit, periodLimit, periodSeconds, maxPaymentsPerPeriod, start, end } = message;
  return {
    chain,
    account,
    payee,
    asset,
    perPayment: formatAmount(BigInt(perPaymentLimit), decimals),
    budget: formatAmount(BigInt(periodLimit), decimals),
    periodSeconds: Number(periodSeconds),
    payments: Number(maxPaymentsPerPeriod),
    start: iso(start),
    end: iso(end),
  };
}

type Delegating = "yes" | "no";

/** Returns false if the wallet does not sign delegations for a page; then nothing was sent to the service. */
async function register(mandateId: string, prepared: PreparedRegistration, delegating: Delegating): Promise<boolean> {
  const wallet = await connect(prepared);
  const authorization = delegating === "yes" ? await signDelegation(wallet, prepared) : undefined;
  if (authorization === null) return false;
  const signature = await signLimits(wallet, prepared);
  const { chain, nonce, deadline, typedData } = prepared;
  const payeeAddress = typedData.message.payee;
  await call(registerMandate, {
    id: mandateId,
    body: { chain, payeeAddress, nonce, deadline, signature, ...(authorization && { authorization }) },
  });
  return true;
}

/** Moves the focus to the heading, so that a screen reader starts reading there. */
const focusFirst = (heading: HTMLHeadingElement | null): void => heading?.focus();

const CannotDelegate = ({ delegation: { address } }: PreparedRegistration) => (
  <Notice tone="caution">
    <p>
      <strong>This wallet does not sign delegations for pages, and nothing was sent.</strong> Most do not yet. You can register
      the limits now; the service pays nothing until the wallet delegates to our account contract. A tool that holds the key can
      do that:
    </p>
    <Code
      label="With Foundry, from the wallet to itself"
      text={`cast send --interactive --auth ${address} YOUR_WALLET --rpc-url YOUR_RPC\n`}
    />
  </Notice>
);

const Delegation = ({ delegation: { address, done } }: PreparedRegistration) =>
  done ? (
    <p className="text-sm">The wallet delegates to our account contract already: one signature is enough.</p>
  ) : (
    <p className="text-sm">
      <strong>You sign two things.</strong> The limits above, and that the wallet delegates to our account contract{" "}
      <Copyable value={address} label="account contract" /> (EIP-7702). The contract has no owner and keeps nothing: your key
      stays in charge, and the delegation ends when you delegate to another address or to none. We send both in one transaction
      and pay its gas.
    </p>
  );

type Props = {
  readonly mandateId: string;
  readonly prepared: PreparedRegistration;
  readonly token: Token;
  readonly onBack: () => void;
  readonly onDone: () => void;
};

export function Sign({ mandateId, prepared, token, onBack, onDone }: Props) {
  const [cannot, setCannot] = useState(false);
  const { done } = prepared.delegation;
  const { send, busy, error } = useOperation((delegating: Delegating) => register(mandateId, prepared, delegating), {
    done: (sent) => {
      if (sent) return onDone();
      setCannot(true);
      announce("This wallet does not sign delegations for pages. Nothing was sent.");
    },
    // The service may have stored the registration before the call failed. The refreshed page will show it.
    refresh: "always",
  });
  const alone = done || cannot;
  return (
    <div className="grid grid-cols-1 gap-4">
      <h3 tabIndex={-1} ref={focusFirst}>
        What you sign
      </h3>
      <LimitFacts limits={limitsOf(prepared, token)} />
      <KeyWords path={prepared.typedData.message.enforcementPath === "2" ? "module" : "proofs"} />
      {cannot ? <CannotDelegate {...prepared} /> : <Delegation {...prepared} />}
      <ProblemNotice error={error} nothing="It is not registered yet." />
      <div className="actions">
        <Button tone="primary" aria-busy={busy} onClick={() => send(alone ? "no" : "yes")}>
          {alone ? "Sign and register" : "Delegate and register"}
        </Button>
        {!alone && (
          <Button disabled={busy} onClick={() => send("no")}>
            Register without delegating
          </Button>
        )}
        <Button tone="quiet" disabled={busy} onClick={onBack}>
          Back
        </Button>
      </div>
    </div>
  );
}
