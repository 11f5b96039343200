"use client";

import { AskerName } from "#components/ui/asker-name.tsx";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { atAddress } from "#lib/http/client.ts";
import type { Asker } from "#lib/identity/asker.ts";
import type * as contract from "#lib/payments/contract.ts";

const allowPaymentOnce = atAddress<typeof contract.allowPaymentOnce>({
  id: "allowPaymentOnce",
  method: "POST",
  path: "/api/v1/payments/allow-once/{authorizationId}",
});

type Props = {
  readonly authorizationId: string;
  readonly asker: Asker;
  readonly payee: string;
  readonly amount: string;
  /** Whether a card was declined, which cannot wait. */
  readonly byCard?: boolean;
};

export function AllowOnce({ authorizationId, asker, payee, amount, byCard = false }: Props) {
  const { send, busy, error } = useOperation(allowPaymentOnce, {
    done: () => {
      announce(byCard ? "Cleared" : "Allowed once");
      document.getElementById("main")?.focus();
    },
    // Refresh the page after a refusal too, because the mandate or the seller may have changed since the page was rendered.
    refresh: "always",
    once: true,
  });
  return (
    <div className="grid justify-items-start gap-2.5">
      <ProblemNotice error={error} nothing="The payment was not allowed." />
      <Button tone="primary" aria-disabled={busy} aria-busy={busy} onClick={() => send({ authorizationId, body: {} })}>
        {byCard ? "Clear this purchase" : "Allow this once"}
      </Button>
      <p className="text-sm text-muted wrap-anywhere">
        {byCard ? (
          <>
            The card may then pay {amount} to <Untrusted>{payee}</Untrusted> once, or up to a tenth more or less, if it is used
            again within 30 minutes.
          </>
        ) : (
          <>
            <AskerName asker={asker} /> may then pay {amount} to <Untrusted>{payee}</Untrusted> once, within an hour, on asking
            again.
          </>
        )}{" "}
        The mandate does not change, and its budgets still apply.
      </p>
    </div>
  );
}
