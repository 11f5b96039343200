import { database } from "#lib/db/client.ts";
import type { Handler } from "#lib/http/operation.ts";
import type * as contract from "#lib/notices/contract.ts";
import { readNotices } from "#lib/notices/read-notices.ts";

export const getNotices: Handler<typeof contract.getNotices> = (_, { caller }) => readNotices(database(), caller);
