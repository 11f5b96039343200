import type * as contract from "#lib/health/contract.ts";
import type { Handler } from "#lib/http/operation.ts";
import { toWire } from "#lib/time.ts";

/** Uses the clock of the process and not that of the database, because the answer must not need the database. */
export const checkLiveness: Handler<typeof contract.checkLiveness> = () =>
  Promise.resolve({ status: "alive", timestamp: toWire(new Date()), uptimeMs: Math.floor(process.uptime() * 1000) });
