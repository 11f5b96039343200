import type { PaidResource } from "#lib/sellers/resource-schema.ts";
import type { SettlementStatus } from "#lib/vocabulary.ts";
import { statusWord } from "#components/ui/status-badge.tsx";

const long = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
const short = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const at = (day: string): Date => new Date(`${day}T00:00:00.000Z`);

/** Writes a UTC day such as "2026-11-21" as "21 November 2026" or as "21 Nov". */
export const longDay = (day: string): string => long.format(at(day));
export const shortDay = (day: string): string => short.format(at(day));

const month = new Intl.DateTimeFormat("en-GB", { month: "long", timeZone: "UTC" });
export const monthOf = (day: string): string => month.format(at(day));

export const count = (value: number): string => value.toLocaleString("en-GB");

export const resourcePath = ({ sellerId, resourceId }: { readonly sellerId: string; readonly resourceId: string }): string =>
  `/seller/resources/${encodeURIComponent(sellerId)}/${encodeURIComponent(resourceId)}`;

export const isPayable = ({ paymentConfig }: Pick<PaidResource, "paymentConfig">): boolean => paymentConfig !== undefined;

export const receivedStatuses = (
  ["settled", "pending", "processing", "unknown", "failed"] as const satisfies readonly SettlementStatus[]
).map((status) => [status, statusWord("settlement", status)] as const);
