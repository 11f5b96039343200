import { CUT_WIDTH, cutLine, pathOf } from "./cut-line.ts";

type Props = {
  readonly hash: string;
  /** The hash of the basket that was shown before. If it differs from `hash`, the two edges do not match. */
  readonly shownHash?: string;
  /** The checkout was approved: the halves are joined. */
  readonly joined?: boolean;
};

function Edge({ hash, side }: { readonly hash: string; readonly side: "upper" | "lower" }) {
  const line = pathOf(cutLine(hash));
  const back = side === "upper" ? `V0H0Z` : `V16H0Z`;
  return (
    <svg className="cut" viewBox={`0 0 ${CUT_WIDTH} 16`} preserveAspectRatio="xMinYMid slice" aria-hidden="true">
      <path className="fill" d={line + back} />
      <path className="line" d={line} />
    </svg>
  );
}

/** The toothed line between the two halves of the document. It only illustrates the check, which the server makes. */
export function Cut({ hash, shownHash = hash, joined = false }: Props) {
  const state = joined ? " joined" : shownHash === hash ? "" : " torn";
  return (
    <div className={`cut-pair${state}`}>
      <Edge hash={hash} side="upper" />
      <Edge hash={shownHash} side="lower" />
    </div>
  );
}
