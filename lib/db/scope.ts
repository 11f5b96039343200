import { and, eq, inArray, type SQL } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";

export type Scope = { readonly organizationId: string; readonly environment: string };

type Scoped = { readonly organizationId: PgColumn; readonly environment: PgColumn };

/** Add this to queries for a member or an agent, so that rows of another organization or environment are not found. */
export const within = (table: Scoped, { organizationId, environment }: Scope): SQL | undefined =>
  and(eq(table.organizationId, organizationId), eq(table.environment, environment));

/** With `mandateIds`, an agent may see only the rows of these mandates, which people chose for the agent. */
export type Reader = Scope & { readonly mandateIds?: readonly string[]; readonly subjectId?: string };

/** Undefined if the reader may see all mandates. */
export const ofOwnMandates = (mandateId: PgColumn, { mandateIds }: Reader): SQL | undefined =>
  mandateIds && inArray(mandateId, [...mandateIds]);
