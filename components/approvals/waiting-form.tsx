"use client";

import Link from "next/link";
import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { rejectCheckout } from "#components/checkout/calls.ts";
import { Button } from "#components/ui/button.tsx";
import { Money } from "#components/ui/money.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { plural } from "#components/ui/plural.ts";
import { ReasonDialog } from "#components/ui/confirm-dialog.tsx";
import { toast } from "#components/ui/toast.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import { call } from "#lib/http/client.ts";
import type { WaitingApproval } from "#lib/pages/buyer/view-approvals.ts";
import { decideEach } from "./decide-each.ts";
import { TOGETHER_MAX } from "./together.ts";

type Waiting = Pick<WaitingApproval, "checkoutIntentId" | "domain" | "amount">;

/** A request whose decline was refused or has an unknown result, and the reason. */
type Failed = { readonly one: Waiting; readonly why: string };

const none: readonly string[] = [];

const checkedIn = (form: HTMLFormElement): readonly string[] =>
  [...form.querySelectorAll<HTMLInputElement>("input[name=id]:checked")].map(({ value }) => value);

const whyNotTogether = (chosen: readonly Waiting[]): string | null => {
  if (chosen.length < 2) return null;
  return chosen.length > TOGETHER_MAX ? `At most ${TOGETHER_MAX} are approved together.` : null;
};

const NotDeclined = ({ failed }: { readonly failed: readonly Failed[] }) => (
  <div className="border-t p-4 md:px-5">
    <Notice tone="caution" role="alert">
      <p>
        <strong>{plural(failed.length, "request was", "requests were")} not declined.</strong>
      </p>
      <ul className="mt-1 list-disc pl-5">
        {failed.map(({ one, why }) => (
          <li key={one.checkoutIntentId}>
            <Link href={`/checkout/${one.checkoutIntentId}`}>
              <Money>{one.amount}</Money> to <Untrusted>{one.domain}</Untrusted>
            </Link>
            : {why}
          </li>
        ))}
      </ul>
    </Notice>
  </div>
);

async function declineAll(chosen: readonly Waiting[], reason: string): Promise<readonly Failed[]> {
  const failed: Failed[] = [];
  await decideEach(
    chosen,
    ({ checkoutIntentId }, idempotencyKey) =>
      call(rejectCheckout, { checkoutIntentId, body: reason === "" ? {} : { reason } }, { idempotencyKey }),
    (one, outcome) => {
      if (outcome !== "done") failed.push({ one, why: outcome.why });
    },
  );
  return failed;
}

type ActionsProps = {
  readonly chosen: readonly Waiting[];
  readonly choose: (all: boolean) => void;
  readonly decline: (reason: string) => Promise<void>;
  readonly done: () => void;
};

function Actions({ chosen, choose, decline, done }: ActionsProps) {
  const { length } = chosen;
  const why = whyNotTogether(chosen);
  return (
    <div className="flex flex-wrap items-center gap-3 border-t px-4 py-3 md:px-5" aria-live="polite">
      <Button size="small" onClick={() => choose(length === 0)}>
        {length === 0 ? "Choose all" : "Choose none"}
      </Button>
      {length > 0 && (
        <>
          <span className="text-sm text-muted">{plural(length, "request")} chosen</span>
          <ReasonDialog
            trigger={`Decline ${length}`}
            look={{ size: "small", tone: "warn" }}
            title={`Decline ${plural(length, "request")}`}
            action={`Decline ${plural(length, "request")}`}
            act={decline}
            done={done}
            nothing="Not every request was declined."
            reasonRequired={false}
            reasonHint="The agents and your organization’s audit log receive it."
          >
            Nothing is paid, and what was held for them is released. This cannot be undone.
          </ReasonDialog>
          {length > 1 && (
            <Button size="small" type="submit" disabled={why !== null}>
              Review {length} together
            </Button>
          )}
          {why !== null && <span className="text-sm text-muted">{why}</span>}
        </>
      )}
    </div>
  );
}

export function WaitingForm({ waiting, children }: { readonly waiting: readonly Waiting[]; readonly children: ReactNode }) {
  const form = useRef<HTMLFormElement>(null);
  const [checked, setChecked] = useState(none);
  const [failed, setFailed] = useState<readonly Failed[]>([]);
  // A refresh of the page may remove these requests from the list, but the dialog still counts them.
  const [declining, setDeclining] = useState<readonly Waiting[]>();
  const count = useCallback(() => form.current && setChecked(checkedIn(form.current)), []);
  // Count the checked boxes now, because people can check boxes before the scripts run.
  useEffect(() => void count(), [count]);
  const choose = (all: boolean) => {
    for (const box of form.current?.querySelectorAll<HTMLInputElement>("input[name=id]") ?? []) box.checked = all;
    count();
  };
  // A checked request may have left the list while the page was open.
  const chosen = declining ?? waiting.filter(({ checkoutIntentId }) => checked.includes(checkoutIntentId));
  const decline = async (reason: string) => {
    setDeclining(chosen);
    const notDeclined = await declineAll(chosen, reason);
    setFailed(notDeclined);
    toast(`${chosen.length - notDeclined.length} of ${plural(chosen.length, "request")} declined`);
  };
  const done = () => {
    setDeclining(undefined);
    choose(false);
  };
  return (
    <form ref={form} action="/approvals/together" method="get" onChange={count} aria-label="Waiting requests">
      {children}
      {failed.length > 0 && <NotDeclined failed={failed} />}
      {(waiting.length > 1 || declining) && <Actions chosen={chosen} choose={choose} decline={decline} done={done} />}
    </form>
  );
}
