import { database } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { readNotices, type Notices } from "#lib/notices/read-notices.ts";

export type NoticesView = Notices;

export const viewNotices = (caller: SessionCaller): Promise<NoticesView> => readNotices(database(), caller);
