import { decodeCursor, page } from "#lib/http/paging.ts";
import {
  countMembers,
  countResources,
  selectOrganizations,
  selectSellers,
  selectSubscriptions,
  type SellerState,
} from "#lib/platform/directory-store.ts";
import { toWire } from "#lib/time.ts";
import { PlanTier, ProductRole, SubscriptionStatus, type Environment } from "#lib/vocabulary.ts";

const ROWS = 20;

type PageRequest = { readonly cursor?: string | undefined };

/** `search` is an id, or the start of a name or slug. */
export async function viewOrganizations({ search, cursor }: PageRequest & { readonly search?: string | undefined }) {
  const rows = await selectOrganizations(search, decodeCursor(cursor), ROWS + 1);
  const { items, nextCursor } = page(rows, ROWS, ({ organizationId }) => organizationId);
  const counted = items.length === 0 ? [] : await countMembers(items.map(({ organizationId }) => organizationId));
  const members = new Map(counted.map((row) => [row.organizationId, row.count]));
  return {
    items: items.map(({ createdAt, tier, productRoles, ...row }) => ({
      ...row,
      productRoles: ProductRole.options.filter((role) => productRoles.includes(role)),
      tier: PlanTier.safeParse(tier).data ?? null,
      members: members.get(row.organizationId) ?? 0,
      createdAt: toWire(createdAt),
    })),
    nextCursor,
  };
}

export type SellerLine = Awaited<ReturnType<typeof viewAllSellers>>["items"][number];

export async function viewAllSellers(environment: Environment, { state, cursor }: PageRequest & { readonly state: SellerState }) {
  const rows = await selectSellers(environment, state, decodeCursor(cursor), ROWS + 1);
  const { items, nextCursor } = page(rows, ROWS, ({ sellerId }) => sellerId);
  const counted = items.length === 0 ? [] : await countResources(items.map(({ sellerId }) => sellerId));
  const resources = new Map(counted.map((row) => [row.sellerId, row.count]));
  return {
    items: items.map(({ createdAt, stoppedAt, ...row }) => ({
      ...row,
      resources: resources.get(row.sellerId) ?? 0,
      createdAt: toWire(createdAt),
      stoppedAt: stoppedAt && toWire(stoppedAt),
    })),
    nextCursor,
  };
}

export type SubscriptionLine = Awaited<ReturnType<typeof viewSubscriptions>>["items"][number];

export async function viewSubscriptions({ cursor }: PageRequest) {
  const rows = await selectSubscriptions(decodeCursor(cursor), ROWS + 1);
  const { items, nextCursor } = page(rows, ROWS, ({ organizationId }) => organizationId);
  return {
    items: items.map(({ tier, status, currentPeriodStart, currentPeriodEnd, ...row }) => ({
      ...row,
      tier: PlanTier.parse(tier),
      status: SubscriptionStatus.parse(status),
      currentPeriodStart: toWire(currentPeriodStart),
      currentPeriodEnd: toWire(currentPeriodEnd),
    })),
    nextCursor,
  };
}
