import { sql } from "drizzle-orm";
import { boolean, index, pgTable, text } from "drizzle-orm/pg-core";
import { createdAt, moment, updatedAt } from "#lib/db/columns.ts";
import { session, user } from "#lib/identity/tables.ts";

/* The tables of better-auth's OAuth plugin; its fields without a column here are not used (sessions/oauth-server.ts). */

/** Clients that organizations registered, that registered themselves, or that have a metadata document; none has a secret. */
export const oauthClient = pgTable(
  "oauth_client",
  {
    id: text("id").primaryKey(),
    /** The URL of its metadata document, or an id that this service chose. */
    clientId: text("client_id").notNull().unique(),
    /** The id of the organization that registered the client; null if the client itself did. */
    referenceId: text("reference_id"),
    name: text("name").notNull(),
    redirectUris: text("redirect_uris").array().notNull(),
    tokenEndpointAuthMethod: text("token_endpoint_auth_method").notNull(),
    grantTypes: text("grant_types").array().notNull(),
    requirePKCE: boolean("require_pkce").notNull(),
    createdBy: text("created_by"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    /** A client that described itself is deleted then; null as soon as a person has allowed the client. */
    expiresAt: moment("expires_at"),
  },
  (table) => [
    index("oauth_client_of_organization").on(table.referenceId, table.clientId),
    index("oauth_client_unused")
      .on(table.expiresAt)
      .where(sql`expires_at IS NOT NULL`),
  ],
);

/** The resources (RFC 8707) for which tokens can be issued: only the URL /mcp of this service. */
export const oauthResource = pgTable("oauth_resource", {
  id: text("id").primaryKey(),
  identifier: text("identifier").notNull().unique(),
  name: text("name").notNull(),
  createdAt: createdAt(),
});

/** A function, because two tables cannot share the same column objects. */
const token = () => ({
  id: text("id").primaryKey(),
  /** The SHA-256 hash of the token. */
  token: text("token").notNull().unique(),
  clientId: text("client_id").notNull(),
  sessionId: text("session_id").references(() => session.id, { onDelete: "set null" }),
  userId: text("user_id")
    .notNull()
    .references(() => user.id, { onDelete: "cascade" }),
  /** The key_id of the connection: the row in api_keys with the capabilities that a person gave to this client. */
  referenceId: text("reference_id"),
  authorizationCodeId: text("authorization_code_id"),
  resources: text("resources").array(),
  scopes: text("scopes").array().notNull(),
  revoked: moment("revoked"),
  expiresAt: moment("expires_at").notNull(),
  createdAt: createdAt(),
});

export const oauthRefreshToken = pgTable(
  "oauth_refresh_token",
  {
    ...token(),
    rotatedAt: moment("rotated_at"),
    authTime: moment("auth_time"),
  },
  (table) => [
    index("oauth_refresh_token_connection").on(table.referenceId),
    index("oauth_refresh_token_session").on(table.sessionId),
    index("oauth_refresh_token_user").on(table.userId),
    index("oauth_refresh_token_code").on(table.authorizationCodeId),
    index("oauth_refresh_token_end").on(table.expiresAt),
  ],
);

export const oauthAccessToken = pgTable(
  "oauth_access_token",
  {
    ...token(),
    refreshId: text("refresh_id").references(() => oauthRefreshToken.id, { onDelete: "cascade" }),
  },
  (table) => [
    index("oauth_access_token_connection").on(table.referenceId),
    index("oauth_access_token_session").on(table.sessionId),
    index("oauth_access_token_user").on(table.userId),
    index("oauth_access_token_code").on(table.authorizationCodeId),
    index("oauth_access_token_refresh").on(table.refreshId),
    index("oauth_access_token_end").on(table.expiresAt),
  ],
);
