"use client";

import { KeyRound } from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";
import { Button } from "#components/ui/button.tsx";
import { Field } from "#components/ui/field.tsx";
import { Notice } from "#components/ui/notice.tsx";
import type { CheckoutView, MandateView, StepUpReason } from "#lib/approvals/checkout-view.ts";

export type Way = "password" | "passkey";

function aboveWords({ limit }: CheckoutView["stepUp"]): string {
  if (limit === undefined) return "above what a session alone may approve";
  const { above, lately } = limit;
  return lately === undefined ? `above ${above}` : `above ${above} with the ${lately} that you allowed in 24 hours`;
}

/** A part of the sentence that `because` makes of all reasons. */
function reasonWords(reason: StepUpReason, stepUp: CheckoutView["stepUp"]): string {
  switch (reason) {
    case "amount":
      return aboveWords(stepUp);
    case "unverifiedPayee":
      return `payee not verified, ${aboveWords(stepUp)}`;
    case "sessionAge":
      return "you signed in more than 15 minutes ago";
    case "firstPayment":
      return "first payment to this seller";
  }
}

export const asksForPasskey = ({ stepUp }: Pick<CheckoutView, "stepUp">, mandate: MandateView | undefined): boolean =>
  [stepUp.assuranceAsked, mandate?.assuranceAsked].includes("passkeyApproved");

type WaysOptions = { readonly view: CheckoutView; readonly passkeyOnly: boolean; readonly asked: boolean };

/** Null if the person need not confirm who they are; empty if they cannot yet. */
export function waysOf({ view: { stepUp }, passkeyOnly, asked }: WaysOptions): readonly Way[] | null {
  const { required, done, byPasskey, hasPasskey, hasPassword } = stepUp;
  const needed = asked || (passkeyOnly ? !byPasskey : required && !done);
  if (!needed) return null;
  return [...(hasPasskey ? (["passkey"] as const) : []), ...(hasPassword && !passkeyOnly ? (["password"] as const) : [])];
}

export function because(stepUp: CheckoutView["stepUp"], passkeyOnly: boolean): string | undefined {
  const why = stepUp.reasons.map((reason) => reasonWords(reason, stepUp));
  const all = [...(passkeyOnly ? ["the mandate, the seller or the resource asks for a passkey"] : []), ...why];
  return all.length === 0 ? undefined : `Reason: ${all.join("; ")}.`;
}

const NoWay = ({ passkeyOnly, path }: { readonly passkeyOnly: boolean; readonly path: string }) => (
  <Notice tone="caution">
    <p>
      <strong>{passkeyOnly ? "This payment is approved with a passkey." : "Confirm who you are before you approve."}</strong> You
      have no passkey yet.{" "}
      <a href={`/settings/security?${new URLSearchParams({ returnTo: path })}`}>Add one, then come back here</a>.
    </p>
  </Notice>
);

type Props = {
  readonly ways: readonly Way[];
  readonly way: Way | undefined;
  readonly onChoose: (way: Way) => void;
  readonly why: string | undefined;
  /** What a passkey signs: "exactly this basket, amount and payee". */
  readonly signs: string;
  readonly passkeyOnly: boolean;
  readonly error: string | undefined;
  /** Whether the service has just asked for the proof, so that the field gets the focus. */
  readonly wanted?: boolean;
  readonly path: string;
};

const Other = ({ children, onClick }: { readonly children: ReactNode; readonly onClick: () => void }) => (
  <p className="mt-1">
    <Button size="small" tone="quiet" onClick={onClick}>
      {children}
    </Button>
  </p>
);

export function StepUp({ ways, way, onChoose, why, signs, passkeyOnly, error, wanted = false, path }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (error !== undefined || wanted) field.current?.focus();
  }, [error, wanted]);
  if (way === undefined) return <NoWay passkeyOnly={passkeyOnly} path={path} />;
  if (way === "passkey") {
    return (
      <div>
        <p className="flex gap-2 text-sm">
          <KeyRound className="icon mt-0.5" aria-hidden />
          <span>
            You confirm with your passkey. It signs {signs}. {why}
          </span>
        </p>
        {ways.includes("password") && <Other onClick={() => onChoose("password")}>Use your password instead</Other>}
      </div>
    );
  }
  return (
    <div>
      <Field
        ref={field}
        label="Your password, to approve"
        name="password"
        type="password"
        autoComplete="current-password"
        required
        hint={why}
        error={error}
      />
      {ways.includes("passkey") && <Other onClick={() => onChoose("passkey")}>Use your passkey instead</Other>}
    </div>
  );
}
