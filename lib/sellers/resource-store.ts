import { and, desc, eq, ilike, isNotNull, isNull, or, sql } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { contains } from "#lib/db/like.ts";
import type { PayableResource } from "#lib/sellers/resource-of-payment.ts";
import { resources } from "#lib/sellers/tables.ts";

export type ResourceRow = typeof resources.$inferSelect;

type Reader = Database | Tx;

/** Null if the resource is archived or has no paymentConfig yet. */
export async function findPayableResource(db: Reader, sellerId: string, resourceId: string): Promise<ResourceRow | null> {
  const [row] = await db
    .select()
    .from(resources)
    .where(
      and(
        eq(resources.sellerId, sellerId),
        eq(resources.resourceId, resourceId),
        isNull(resources.archivedAt),
        isNotNull(resources.paymentConfig),
      ),
    );
  return row ?? null;
}

/** Without a limit, because a payment is for a resource only if no other one fits. */
export const resourcesPaidTo = (db: Reader, organizationId: string, payTo: string): Promise<PayableResource[]> => {
  const { sellerId, resourceId, pathTemplate, pricing } = resources;
  return db
    .select({ sellerId, resourceId, pathTemplate, pricing })
    .from(resources)
    .where(and(eq(resources.payTo, payTo), eq(resources.organizationId, organizationId), isNull(resources.archivedAt)));
};

/** The time of the resource's creation stays, and an archived resource is restored. */
export async function saveResource(tx: Tx, row: typeof resources.$inferInsert): Promise<ResourceRow> {
  const { createdAt: _, sellerId: __, resourceId: ___, ...terms } = row;
  const [saved] = await tx
    .insert(resources)
    .values(row)
    .onConflictDoUpdate({ target: [resources.sellerId, resources.resourceId], set: { ...terms, archivedAt: null } })
    .returning();
  return saved!;
}

type OwnResources = {
  readonly organizationId: string;
  readonly sellerId?: string | undefined;
  readonly archivedToo?: boolean;
};

const own = ({ organizationId, sellerId, archivedToo = false }: OwnResources) =>
  and(
    eq(resources.organizationId, organizationId),
    sellerId === undefined ? undefined : eq(resources.sellerId, sellerId),
    archivedToo ? undefined : isNull(resources.archivedAt),
  );

/** The organization's resources with this id, at most two: with two, the caller knows that there are several. */
export const findOwnResources = (db: Reader, which: OwnResources, resourceId: string): Promise<ResourceRow[]> =>
  db
    .select()
    .from(resources)
    .where(and(own(which), eq(resources.resourceId, resourceId)))
    .limit(2);

export const placeOfResource = ({ createdAt, sellerId, resourceId }: ResourceRow): string =>
  `${createdAt.getTime()}:${sellerId}:${resourceId}`;

function before(place: string | null) {
  if (place === null) return undefined;
  const [time = "", sellerId = "", ...rest] = place.split(":");
  const at = new Date(Number(time));
  if (Number.isNaN(at.getTime())) return sql`false`;
  const { createdAt } = resources;
  return sql`(${createdAt}, ${resources.sellerId}, ${resources.resourceId}) < (${at.toISOString()}::timestamptz, ${sellerId}, ${rest.join(":")})`;
}

export const listLiveResources = (db: Reader, which: OwnResources, place: string | null, limit: number): Promise<ResourceRow[]> =>
  db
    .select()
    .from(resources)
    .where(and(own(which), before(place)))
    .orderBy(desc(resources.createdAt), desc(resources.sellerId), desc(resources.resourceId))
    .limit(limit);

type ResourceFilter = OwnResources & {
  readonly archived: boolean;
  readonly search?: string | undefined;
  readonly method?: string | undefined;
};

export const filterResources = (db: Reader, which: ResourceFilter, place: string | null, limit: number) =>
  db
    .select()
    .from(resources)
    .where(
      and(
        own({ ...which, archivedToo: true }),
        which.archived ? isNotNull(resources.archivedAt) : isNull(resources.archivedAt),
        which.method === undefined ? undefined : eq(resources.method, which.method),
        which.search === undefined
          ? undefined
          : or(
              ...[resources.pathTemplate, resources.description, resources.resourceId].map((text) =>
                ilike(text, contains(which.search ?? "")),
              ),
            ),
        before(place),
      ),
    )
    .orderBy(desc(resources.createdAt), desc(resources.sellerId), desc(resources.resourceId))
    .limit(limit);

export async function findOwnResource(
  db: Reader,
  {
    organizationId,
    sellerId,
    resourceId,
  }: { readonly organizationId: string; readonly sellerId: string; readonly resourceId: string },
): Promise<ResourceRow | null> {
  const [row] = await db
    .select()
    .from(resources)
    .where(
      and(eq(resources.sellerId, sellerId), eq(resources.resourceId, resourceId), eq(resources.organizationId, organizationId)),
    );
  return row ?? null;
}

/** Nobody archives the resource at the same time, because the caller has closed the organization's gate. */
export async function markArchived(tx: Tx, { sellerId, resourceId, archivedAt }: ResourceRow): Promise<ResourceRow> {
  const [saved] = await tx
    .update(resources)
    .set({ archivedAt: archivedAt ?? sql`statement_timestamp()`, updatedAt: sql`statement_timestamp()` })
    .where(and(eq(resources.sellerId, sellerId), eq(resources.resourceId, resourceId)))
    .returning();
  return saved!;
}
