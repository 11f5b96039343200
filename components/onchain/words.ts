import { spanWords } from "#lib/mandates/policy/words.ts";

export type Token = { readonly asset: string; readonly decimals: number };

const DAY = 86_400;

type Times = { readonly periodSeconds: number; readonly start: string | number; readonly end: string | number };

const secondsOf = (time: string | number): number => (typeof time === "number" ? time : Date.parse(time) / 1_000);

/** The length of a period: "a day", "in 31 days", or "in all" if it is as long as the whole validity. */
export function periodWords({ periodSeconds, start, end }: Times): string {
  if (periodSeconds >= secondsOf(end) - secondsOf(start)) return "in all";
  if (periodSeconds === DAY) return "a day";
  if (periodSeconds === 7 * DAY) return "a week";
  return spanWords({ rolling: periodSeconds % 3_600 === 0 ? `PT${periodSeconds / 3_600}H` : `PT${periodSeconds / 60}M` });
}

export const paymentsWords = (count: number): string =>
  `${count.toLocaleString("en-US")} ${count === 1 ? "payment" : "payments"}`;
