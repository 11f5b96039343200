import { not, sql } from "drizzle-orm";

/**
 * The one rule for when a session, a person, a key, an account or a token is live, as conditions in SQL. `name` is the name of the
 * table in the statement. Call enterGate before, or what is live may end before the commit.
 */
export const live = {
  session: (name: string) => `${name}.expires_at > statement_timestamp()`,
  /** Not banned. */
  person: (name: string) =>
    `NOT (${name}.banned AND (${name}.ban_expires IS NULL OR ${name}.ban_expires > statement_timestamp()))`,
  key: (name: string) =>
    `${name}.revoked_at IS NULL AND (${name}.expires_at IS NULL OR ${name}.expires_at > statement_timestamp())`,
  /** A paused account is live too: a pause refuses new requests, and what was accepted before continues. */
  account: (name: string) => `${name}.revoked_at IS NULL`,
  token: (name: string) => `${name}.revoked IS NULL AND ${name}.expires_at > statement_timestamp()`,
} as const;

/** The same conditions for queries by drizzle, which names tables as they are. */
export const isLive = {
  session: sql.raw(live.session("session")),
  person: sql.raw(live.person('"user"')),
  key: sql.raw(live.key("api_keys")),
  account: sql.raw(live.account("service_accounts")),
} as const;

export const isBanned = not(isLive.person).mapWith(Boolean);

/** An expression in SQL, as are its parts: the role of a live person in an organization, or NULL. */
export const roleOf = (organizationId: string, userId: string): string =>
  `(SELECT m.role FROM member m JOIN "user" u ON u.id = m.user_id
    WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId} AND ${live.person("u")} LIMIT 1)`;

/** An expression in SQL: whether the account, or the person in the organization, that asked for something is live. */
export const subjectLives = (organizationId: string, subjectId: string): string =>
  `(EXISTS (SELECT FROM service_accounts a WHERE a.service_account_id = ${subjectId} AND ${live.account("a")})
    OR ${roleOf(organizationId, subjectId)} IS NOT NULL)`;
