import { and, eq, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

/** An organization in one environment (sandbox or production). */
export type Scope = { readonly organizationId: string; readonly environment: string };

type Scoped = { readonly organizationId: PgColumn; readonly environment: PgColumn };

/**
 * The condition that every query for a member or an agent has, so that rows of another organization or environment are never
 * found.
 */
export const within = (table: Scoped, { organizationId, environment }: Scope): SQL | undefined =>
  and(eq(table.organizationId, organizationId), eq(table.environment, environment));
