"use client";

import { useHydrated } from "./hydrated.ts";

const parts = {
  date: { day: "numeric", month: "long", year: "numeric" },
  time: { hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short" },
  short: { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short" },
  minute: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

type Props = { readonly at: string; readonly show?: "date" | "time" | "both" | "short" | "minute" };

/** A time: in UTC in the HTML from the server, and in the reader's time zone as soon as the page's scripts run. */
export function Moment({ at, show = "both" }: Props) {
  const timeZone = useHydrated() ? new Intl.DateTimeFormat().resolvedOptions().timeZone : "UTC";
  const wanted = show === "both" ? (["date", "time"] as const) : ([show] as const);
  const text = wanted
    .map((part) => new Intl.DateTimeFormat("en-GB", { ...parts[part], timeZone }).format(new Date(at)))
    .join(", ");
  return <time dateTime={at}>{text}</time>;
}
