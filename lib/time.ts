import { z } from "zod";

/** RFC 3339 with a zone on the way in; always UTC with milliseconds on the way out. */
export const Timestamp = z.iso
  .datetime({ offset: true, error: "Write the time as RFC 3339, such as 2026-11-21T12:00:00.000Z." })
  .max(40)
  .meta({ examples: ["2026-11-21T12:00:00.000Z"] });

export const toWire = (time: Date): string => time.toISOString();

export const minutes = (count: number): number => count * 60_000;
export const earliest = (...times: readonly Date[]): Date => new Date(Math.min(...times.map(Number)));
