import type { ReactNode } from "react";
import { Moment } from "./moment.tsx";

export type TimelineItem = {
  /** Absent for a step that has not begun. */
  readonly state?: "done" | "now" | "stopped";
  readonly title: string;
  readonly at?: string;
  readonly children?: ReactNode;
};

const words = { done: "Done: ", now: "Now: ", stopped: "Stopped: " } as const;

export function Timeline({ label, items }: { readonly label: string; readonly items: readonly TimelineItem[] }) {
  return (
    <ol className="timeline" aria-label={label}>
      {items.map(({ state, title, at, children }) => (
        <li key={title} data-state={state}>
          <h3>
            <span>
              <span className="sr">{state === undefined ? "Not yet: " : words[state]}</span>
              {title}
            </span>
            {at !== undefined && <Moment at={at} />}
          </h3>
          {children !== undefined && <p>{children}</p>}
        </li>
      ))}
    </ol>
  );
}
