import { and, eq, inArray, type SQL } from "drizzle-orm";
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

/** The caller who reads rows. If people chose mandates for an agent, it may see only the rows of these `mandateIds`. */
export type Reader = Scope & { readonly mandateIds?: readonly string[]; readonly subjectId?: string };

/** The condition that a row belongs to one of the reader's mandates. Undefined if the reader may see all mandates. */
export const ofOwnMandates = (mandateId: PgColumn, { mandateIds }: Reader): SQL | undefined =>
  mandateIds && inArray(mandateId, [...mandateIds]);
