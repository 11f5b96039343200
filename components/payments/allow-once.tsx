"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { AskerName } from "#components/ui/asker-name.tsx";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { atAddress } from "#lib/http/client.ts";
import type { Asker } from "#lib/identity/asker.ts";
import { mutation } from "#lib/http/query.ts";
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
};

export function AllowOnce({ authorizationId, asker, payee, amount }: Props) {
  const router = useRouter();
  const allowing = useMutation({
    ...mutation(allowPaymentOnce),
    onSuccess: () => {
      announce("Allowed once");
      document.getElementById("main")?.focus();
    },
    // Refresh the page after a refusal too, because the mandate or the seller may have changed since the page was rendered.
    onSettled: () => router.refresh(),
  });
  const busy = allowing.isPending || allowing.isSuccess;
  return (
    <div className="grid justify-items-start gap-2.5">
      {allowing.error && <ProblemNotice error={allowing.error} nothing="The payment was not allowed." />}
      <Button
        tone="primary"
        aria-disabled={busy}
        aria-busy={busy}
        onClick={() => {
          if (!busy) allowing.mutate({ authorizationId, body: {} });
        }}
      >
        Allow this once
      </Button>
      <p className="text-sm text-muted wrap-anywhere">
        <AskerName asker={asker} /> may then pay {amount} to <Untrusted>{payee}</Untrusted> once, within an hour, on asking again.
        The mandate does not change, and its budgets still apply.
      </p>
    </div>
  );
}
