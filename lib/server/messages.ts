import type { ProcessHealth } from "#lib/health/process-health.ts";

/** What the pages process and the process that started it tell each other. */
export type FromParent =
  | { readonly type: "begin"; readonly secret: string }
  | { readonly type: "health"; readonly id: number; readonly health: ProcessHealth | null }
  /** Finish what is under way, then end. */
  | { readonly type: "end" };

export type FromPages =
  | { readonly type: "listening"; readonly port: number }
  /** Sent every few seconds: a process that says nothing hangs. */
  | { readonly type: "alive"; readonly residentBytes: number }
  | { readonly type: "health"; readonly id: number };

export const ALIVE_EVERY_MS = 2_000;
export const DRAIN_MS = 5_000;
