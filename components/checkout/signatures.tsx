import type { ReactNode } from "react";
import { Moment } from "#components/ui/moment.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";

type Props = {
  readonly agent: string;
  readonly requestedAt: string;
  readonly other: {
    readonly state: "open" | "signed" | "void";
    /** Empty while nobody has signed. */
    readonly name: string;
    readonly what: string;
    readonly detail: ReactNode;
  };
};

/** The two lines at the foot of the document. */
export function Signatures({ agent, requestedAt, other: { state, name, what, detail } }: Props) {
  return (
    <div className="signatures">
      <div className="signature">
        <p className="name">
          <Untrusted>{agent}</Untrusted>
        </p>
        <p className="line">
          Requested
          <br />
          <Moment at={requestedAt} />
        </p>
      </div>
      <div className={`signature ${state}`}>
        <p className={state === "void" ? "name muted" : "name"}>
          {name === "" ? <span className="sr">Not signed yet</span> : <Untrusted>{name}</Untrusted>}
        </p>
        <p className="line">
          {what}
          <br />
          {detail}
        </p>
      </div>
    </div>
  );
}
