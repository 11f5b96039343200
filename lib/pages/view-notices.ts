import { database } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { readNotices, type Notices } from "#lib/notices/read-notices.ts";

export type NoticesView = Notices;

/** How the caller is told about requests for approval, and on which devices. */
export const viewNotices = (caller: SessionCaller): Promise<NoticesView> => readNotices(database(), caller);
