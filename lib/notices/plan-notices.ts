import { isOpen } from "#lib/approvals/checkout-state.ts";
import { minutes } from "#lib/time.ts";
import type { CheckoutStatus } from "#lib/vocabulary.ts";

export type NoticeKind = "opened" | "halfTime" | "lastMinutes";

/** An audit event that may have opened a request for approval. */
export type OpeningEvent = {
  readonly auditEventId: string;
  readonly type: string;
  readonly entityId: string;
  readonly checkoutIntentId: string;
};

export type Request = {
  readonly checkoutIntentId: string;
  readonly organizationId: string;
  readonly status: string;
  readonly authorizationId: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

export type PlannedNotice = {
  readonly auditEventId: string;
  readonly kind: NoticeKind;
  readonly organizationId: string;
  readonly checkoutIntentId: string;
  readonly dueAt: Date;
};

export const openingTypes = ["payment.approvalRequired", "checkout.previewed"] as const;

const LAST_MS = minutes(5);

/** A payment with the same question as an earlier one reuses the earlier payment's checkout, so its event opens no request. */
const opens = (event: OpeningEvent, request: Request): boolean =>
  event.type === "checkout.previewed" || request.authorizationId === event.entityId;

const waits = ({ status, expiresAt }: Request, now: Date): boolean => isOpen(status as CheckoutStatus) && expiresAt > now;

export function dueAt(kind: NoticeKind, { createdAt, expiresAt }: Pick<Request, "createdAt" | "expiresAt">): Date {
  if (kind === "opened") return createdAt;
  if (kind === "halfTime") return new Date((createdAt.getTime() + expiresAt.getTime()) / 2);
  return new Date(expiresAt.getTime() - LAST_MS);
}

/** A request of ten minutes or less gets no last notice, because its notice at half time comes in the last five minutes. */
export function planNotices(event: OpeningEvent, request: Request | undefined, now: Date): readonly PlannedNotice[] {
  if (!request || !opens(event, request) || !waits(request, now)) return [];
  const { checkoutIntentId, organizationId } = request;
  const { auditEventId } = event;
  const notice = (kind: NoticeKind): PlannedNotice => ({
    auditEventId,
    kind,
    organizationId,
    checkoutIntentId,
    dueAt: dueAt(kind, request),
  });
  const last = dueAt("lastMinutes", request) > dueAt("halfTime", request) ? [notice("lastMinutes")] : [];
  return [notice("opened"), notice("halfTime"), ...last];
}

/** Whether the request still waits and `due` has no later notice about it, as after an outage. */
export const isStillNews = (notice: PlannedNotice, due: readonly PlannedNotice[], request: Request, now: Date): boolean =>
  waits(request, now) && !due.some(({ auditEventId, dueAt }) => auditEventId === notice.auditEventId && dueAt > notice.dueAt);
