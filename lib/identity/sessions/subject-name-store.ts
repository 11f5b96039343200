import { and, desc, eq, inArray } from "drizzle-orm";
import type { Database, Tx } from "#lib/db/client.ts";
import { serviceAccounts, user } from "#lib/identity/tables.ts";

/**
 * Reads the names of people and of the organization's service accounts. The query does not check to which organization people
 * belong, so pass only people who belong to this one or acted in it.
 */
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

const NAMES_MAX = 200;

/**
 * Lists the newest 200 service accounts of the organization, including revoked ones, because pages still show their payments.
 */
export const agentNames = (db: Database | Tx, organizationId: string) =>
  db
    .select({ agentId: serviceAccounts.serviceAccountId, name: serviceAccounts.name })
    .from(serviceAccounts)
    .where(eq(serviceAccounts.organizationId, organizationId))
    .orderBy(desc(serviceAccounts.serviceAccountId))
    .limit(NAMES_MAX);
