"use client";

import { ago } from "./ago.ts";
import { useMinute } from "./hydrated.ts";

const parts = {
  date: { day: "numeric", month: "long", year: "numeric" },
  time: { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
  short: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short" },
  minute: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

type Props = {
  readonly at: string;
  /** `ago`: such as "2 min ago", for tables. */
  readonly show?: "date" | "time" | "both" | "short" | "minute" | "ago";
  /** For a time beside others that are in this zone; without it, the reader's zone. */
  readonly timeZone?: string;
};

/** A time: in UTC in the HTML from the server, and in the reader's time zone as soon as the page's scripts run. */
export function Moment({ at, show = "both", timeZone: given }: Props) {
  const minute = useMinute();
  const timeZone = given ?? (minute !== null ? new Intl.DateTimeFormat().resolvedOptions().timeZone : "UTC");
  const textOf = (...wanted: readonly (keyof typeof parts)[]) =>
    wanted.map((part) => new Intl.DateTimeFormat("en-GB", { ...parts[part], timeZone }).format(new Date(at))).join(", ");
  const full = textOf("date", "time");
  if (show === "both") return <time dateTime={at}>{full}</time>;
  const isAgo = show === "ago";
  const text = isAgo && minute !== null ? ago(at, new Date(minute).toISOString()) : textOf(isAgo ? "short" : show);
  return (
    <time dateTime={at} title={full} className={isAgo ? "whitespace-nowrap" : undefined}>
      {text}
    </time>
  );
}
