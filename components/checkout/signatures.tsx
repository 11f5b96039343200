import type { ReactNode } from "react";
import { AskerName } from "#components/ui/asker-name.tsx";
import { Moment } from "#components/ui/moment.tsx";
import { Isolated, Untrusted } from "#components/ui/untrusted.tsx";
import type { CheckoutView } from "#lib/approvals/checkout-view.ts";

type Props = {
  readonly view: CheckoutView;
  readonly state: "signed" | "void";
  /** The name of the person who approved, or the words for a checkout that can no longer be approved. */
  readonly name: string;
  readonly what: string;
  readonly detail: ReactNode;
};

const NAME = "min-h-7.5 self-end pb-1 text-lg font-560 wrap-anywhere";
const LINE = "border-t pt-2 text-sm text-balance text-muted";

const looks = {
  signed: ["text-accent", "border-accent"],
  void: ["text-muted", "border-border-strong"],
} as const;

export function Signatures({ view: { agent, requestedAt }, state, name, what, detail }: Props) {
  const [ink, edge] = looks[state];
  return (
    <div className="grid grid-cols-1 gap-x-8 gap-y-5 pt-2 md:grid-cols-2">
      <div className="grid min-w-0 content-start">
        <p className={NAME}>
          <AskerName asker={agent} />
        </p>
        <p className={`${LINE} border-text`}>
          Requested
          <br />
          <Moment at={requestedAt} />
        </p>
      </div>
      <div className="grid min-w-0 content-start">
        <p className={`${NAME} ${ink}`}>
          {name === "" ? <span className="sr">Not signed yet</span> : <Untrusted>{name}</Untrusted>}
        </p>
        <p className={`${LINE} ${edge}`}>
          <Isolated>{what}</Isolated>
          <br />
          {detail}
        </p>
      </div>
    </div>
  );
}
