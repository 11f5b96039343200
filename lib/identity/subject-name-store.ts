import { and, desc, eq, inArray } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { nameAsker, type Asker, type AskerReader } from "#lib/identity/asker.ts";
import { serviceAccounts, user } from "#lib/identity/tables.ts";

/** Pass only people who belong to the organization or acted in it, because the query does not check the people. */
export async function subjectNames(
  db: Database | Tx,
  organizationId: string,
  subjectIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(subjectIds)];
  const keys = ids.filter((id) => id.startsWith("sa_"));
  const people = ids.filter((id) => id.startsWith("usr_"));
  const [accounts, users] = await Promise.all([
    keys.length === 0
      ? []
      : db
          .select({ id: serviceAccounts.serviceAccountId, name: serviceAccounts.name })
          .from(serviceAccounts)
          .where(and(inArray(serviceAccounts.serviceAccountId, keys), eq(serviceAccounts.organizationId, organizationId))),
    people.length === 0 ? [] : db.select({ id: user.id, name: user.name }).from(user).where(inArray(user.id, people)),
  ]);
  return new Map([...accounts, ...users].map(({ id, name }) => [id, name]));
}

/** Names the agents and people who asked for payments of the organization. */
export async function askersOf(
  db: Database | Tx,
  reader: AskerReader,
  subjectIds: readonly string[],
): Promise<(subjectId: string) => Asker> {
  const names = await subjectNames(db, reader.organizationId, subjectIds);
  return (subjectId) => nameAsker(subjectId, names, reader);
}

const NAMES_MAX = 200;

/** Includes revoked accounts, because pages still show their payments. */
export const agentNames = (db: Database | Tx, organizationId: string) =>
  db
    .select({ agentId: serviceAccounts.serviceAccountId, name: serviceAccounts.name })
    .from(serviceAccounts)
    .where(eq(serviceAccounts.organizationId, organizationId))
    .orderBy(desc(serviceAccounts.serviceAccountId))
    .limit(NAMES_MAX);
