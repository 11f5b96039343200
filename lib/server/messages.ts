import type { StreamRequest } from "#lib/changes/stream-request.ts";
import type { ProcessHealth } from "#lib/health/process-health.ts";

export type FromParent =
  | { readonly type: "begin"; readonly secret: string }
  | { readonly type: "health"; readonly id: number; readonly health: ProcessHealth | null }
  /** Sent together with the browser's connection, which then belongs to the pages process. */
  | { readonly type: "stream"; readonly request: StreamRequest }
  | { readonly type: "end" };

export type FromPages =
  | { readonly type: "listening"; readonly port: number }
  /** The parent kills a pages process that sends no message for too long (PageProcess). */
  | { readonly type: "alive"; readonly residentBytes: number }
  | { readonly type: "health"; readonly id: number };

export const ALIVE_EVERY_MS = 2_000;
export const DRAIN_MS = 5_000;
