import { and, inArray, isNotNull } from "drizzle-orm";
import { executions } from "#lib/holds/tables.ts";

/**
 * The condition for executions whose outcome is not known yet. Each of them has a next check, so PostgreSQL can use the small index
 * of due checks, although most executions are settled.
 */
export const hasNoOutcome = and(
  isNotNull(executions.nextCheckAt),
  inArray(executions.settlementStatus, ["pending", "processing", "unknown"]),
);
