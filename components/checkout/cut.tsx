import { CUT_WIDTH, cutLine, pathOf } from "./cut-line.ts";

type Props = {
  readonly hash: string;
  /** The hash of the basket that the person saw before; if it differs, the two edges of the line do not fit together. */
  readonly shownHash?: string;
  /** Whether the two edges touch, as on an approved checkout. */
  readonly joined?: boolean;
};

const looks = {
  whole: { line: "stroke-border-strong", lower: "-mt-2" },
  joined: { line: "stroke-accent stroke-[1.25]", lower: "-mt-4" },
  torn: { line: "stroke-caution", lower: "-mt-0.5" },
} as const;

type EdgeProps = { readonly hash: string; readonly side: "upper" | "lower"; readonly look: (typeof looks)[keyof typeof looks] };

function Edge({ hash, side, look }: EdgeProps) {
  const line = pathOf(cutLine(hash));
  const back = side === "upper" ? `V0H0Z` : `V16H0Z`;
  return (
    <svg
      className={`h-4 w-full ${side === "lower" ? look.lower : ""}`}
      viewBox={`0 0 ${CUT_WIDTH} 16`}
      preserveAspectRatio="xMinYMid slice"
      aria-hidden="true"
    >
      <path className="fill-surface" d={line + back} />
      <path className={`fill-none [vector-effect:non-scaling-stroke] ${look.line}`} d={line} />
    </svg>
  );
}

/** This is only a picture: the server makes the real check. */
export function Cut({ hash, shownHash = hash, joined = false }: Props) {
  const look = looks[joined ? "joined" : shownHash === hash ? "whole" : "torn"];
  return (
    <div className="relative grid before:pointer-events-none before:absolute before:inset-x-0 before:top-0 before:h-2 before:border-x after:pointer-events-none after:absolute after:inset-x-0 after:bottom-0 after:h-2 after:border-x">
      <Edge hash={hash} side="upper" look={look} />
      <Edge hash={shownHash} side="lower" look={look} />
    </div>
  );
}
