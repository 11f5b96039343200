import { database } from "#lib/db/client.ts";
import type { SessionCaller } from "#lib/http/operation.ts";
import { readSettings } from "#lib/notices/settings-store.ts";

/** How the caller is told about requests. */
export const viewNotices = ({ userId }: SessionCaller) => readSettings(database(), userId);
