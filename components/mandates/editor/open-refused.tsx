import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogClose } from "#components/ui/dialog.tsx";
import { Money, money } from "#components/ui/money.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { plural } from "#components/ui/plural.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";
import type { ReplyOf } from "#lib/http/client.ts";
import { updateMandate } from "../calls.ts";
import { PaymentItem } from "./parts.tsx";

export type Update = ReplyOf<typeof updateMandate>;
type Refusal = NonNullable<Update["openRefused"]>;

const ROWS_MAX = 5;

const states = { held: "Not executed yet", submitted: "Submitted already", canceled: "Canceled" } as const;

const List = ({ refused: { items, more } }: { readonly refused: Refusal }) => (
  <ul className="divide-y">
    {items.slice(0, ROWS_MAX).map(({ authorizationId, domain, amount, asset, state, message }) => (
      <PaymentItem key={authorizationId}>
        <a className="font-560 wrap-anywhere" href={`/payments/${authorizationId}`}>
          <Untrusted>{domain ?? "Unknown seller"}</Untrusted>
        </a>
        <Money>{money(amount, asset)}</Money>
        <span className="col-span-full wrap-anywhere text-muted">
          {states[state]}. <Untrusted>{message}</Untrusted>
        </span>
      </PaymentItem>
    ))}
    {(more || items.length > ROWS_MAX) && (
      <PaymentItem>{more ? "And more." : `And ${items.length - ROWS_MAX} more.`}</PaymentItem>
    )}
  </ul>
);

type Props = {
  readonly mandate: Update;
  readonly refused: Refusal;
  readonly onDone: () => void;
};

export function OpenRefusedDialog({ mandate: { mandateId, version }, refused, onDone }: Props) {
  const { send, busy, error } = useOperation(updateMandate, {
    done: ({ openRefused }) => {
      announce(`${plural(openRefused?.canceled ?? 0, "open payment")} canceled`);
      onDone();
    },
    refresh: "never",
  });
  const held = refused.items.filter(({ state }) => state === "held").length;
  const submitted = refused.items.length - held;
  return (
    <Dialog
      open
      onOpenChange={() => busy || onDone()}
      title={`Version ${version} no longer allows ${plural(refused.items.length, "open payment")}`}
      description="The version is saved and in force. Nobody can execute these payments under it."
      footer={
        held === 0 ? (
          <DialogClose tone="primary">Go on</DialogClose>
        ) : (
          <>
            <DialogClose>Leave them until they expire</DialogClose>
            <Button tone="danger" aria-busy={busy} onClick={() => send({ id: mandateId, body: { cancelOpen: true } })}>
              Cancel payments that are not submitted
            </Button>
          </>
        )
      }
    >
      <List refused={refused} />
      <div className="mt-4 grid gap-2 text-sm">
        {held > 0 && <p>Their part of the budget is free when they expire, or at once if you cancel them now.</p>}
        {submitted > 0 && (
          <p>
            Payments that were submitted cannot be canceled here: the seller has the signed payment. This service does not settle
            it, and follows it to its end.
          </p>
        )}
      </div>
      <ProblemNotice error={error} nothing="Nothing was canceled." />
    </Dialog>
  );
}
