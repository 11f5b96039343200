"use client";

import { type ReactNode, useEffect, useRef, useState } from "react";

const TOGGLE = "min-h-6 rounded-xs bg-surface text-sm font-560 text-accent underline underline-offset-2";
const HELD = {
  // A long word fills the line, where otherwise only an ellipsis could follow the word before it.
  1: "line-clamp-1 break-all [@media(scripting:none)]:[-webkit-line-clamp:unset]",
  2: "line-clamp-2 [@media(scripting:none)]:[-webkit-line-clamp:unset]",
} as const;

type Props = {
  /** The name of the content for the button: "the items" makes "Show all of the items". */
  readonly of: string;
  readonly lines?: keyof typeof HELD;
  readonly children: ReactNode;
};

/** Shows one or two lines of a text of any length. A button shows the rest. Without scripts the whole text is visible. */
export function Clamp({ of, lines = 2, children }: Props) {
  const text = useRef<HTMLSpanElement>(null);
  const [cut, setCut] = useState(false);
  const [all, setAll] = useState(false);
  useEffect(() => {
    const node = text.current;
    if (node === null) return undefined;
    const measure = new ResizeObserver(() => setCut(node.scrollHeight > node.clientHeight + 1));
    measure.observe(node);
    return () => measure.disconnect();
  }, []);
  return (
    <span className="relative block min-w-0 wrap-anywhere">
      <span ref={text} className={all ? "block" : HELD[lines]}>
        {children}
      </span>
      {(cut || all) && (
        <button
          type="button"
          className={all ? TOGGLE : `absolute right-0 -bottom-0.5 pl-2 ${TOGGLE}`}
          aria-expanded={all}
          onClick={() => setAll(!all)}
        >
          {all ? "Show less" : "Show all"}
          <span className="sr"> of {of}</span>
        </button>
      )}
    </span>
  );
}
