import { clock } from "#lib/audit/store.ts";
import { database } from "#lib/db/client.ts";
import type { Handler, Input } from "#lib/http/operation.ts";
import { decodeCursor, page } from "#lib/http/paging.ts";
import { presentUser } from "#lib/platform/user.ts";
import type * as contract from "#lib/platform/contract.ts";
import { selectUsers } from "#lib/platform/user-store.ts";

type Query = Input<typeof contract.listUsers>["query"];

export async function readUsers({ limit, cursor, search, role, banned }: Query) {
  const [rows, now] = await Promise.all([
    selectUsers({ search, role, banned: banned === "true" }, decodeCursor(cursor), limit + 1),
    clock(database()),
  ]);
  const { items, ...rest } = page(rows, limit, ({ id }) => id);
  return { items: items.map((row) => presentUser(row, now)), ...rest };
}

export const listUsers: Handler<typeof contract.listUsers> = ({ query }) => readUsers(query);
