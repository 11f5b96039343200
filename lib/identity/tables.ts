import { sql } from "drizzle-orm";
import { boolean, check, index, integer, bigint, numeric, pgTable, text, uniqueIndex } from "drizzle-orm/pg-core";
import { createdAt, moment, updatedAt } from "#lib/db/columns.ts";

/* The tables from `user` to `rateLimit`, except `passkeyChallenges`, have the columns that better-auth reads or writes. */

export const user = pgTable(
  "user",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    email: text("email").notNull().unique(),
    emailVerified: boolean("email_verified").notNull().default(false),
    image: text("image"),
    platformRoles: text("platform_roles")
      .array()
      .notNull()
      .default(sql`'{user}'`),
    banned: boolean("banned").notNull().default(false),
    banReason: text("ban_reason"),
    banExpires: moment("ban_expires"),
    /** When an authenticated request wrote the event user.created, because better-auth inserts this row. */
    auditedAt: moment("audited_at"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [
    // These two indexes are for the search by the beginning of an email address or name in the platform's administration.
    index("user_email_start").on(sql`lower(${table.email}) text_pattern_ops`),
    index("user_name_start").on(sql`lower(${table.name}) text_pattern_ops`),
    index("user_with_platform_role")
      .on(table.id)
      .where(sql`platform_roles <> '{user}'`),
    index("user_banned")
      .on(table.id)
      .where(sql`banned`),
  ],
);

export const session = pgTable(
  "session",
  {
    id: text("id").primaryKey(),
    userId: text("user_id")
      .notNull()
      .references(() => user.id, { onDelete: "cascade" }),
    token: text("token").notNull().unique(),
    expiresAt: moment("expires_at").notNull(),
    ipAddress: text("ip_address"),
    userAgent: text("user_agent"),
    activeOrganizationId: text("active_organization_id"),
    provider: text("provider").notNull().default("emailPassword"),
    /** The last proof of identity, which may be the sign-in. */
    provedAt: moment("proved_at")
      .notNull()
      .default(sql`clock_timestamp()`),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [index("session_user").on(table.userId), index("session_end").on(table.expiresAt)],
);

export const account = pgTable(
  "account",
  {
    id: text("id").primaryKey(),
    accountId: text("account_id").notNull(),
    providerId: text("provider_id").notNull(),
    userId: text("user_id")
      .notNull()
      .references(() => user.id, { onDelete: "cascade" }),
    accessToken: text("access_token"),
    refreshToken: text("refresh_token"),
    idToken: text("id_token"),
    accessTokenExpiresAt: moment("access_token_expires_at"),
    refreshTokenExpiresAt: moment("refresh_token_expires_at"),
    scope: text("scope"),
    password: text("password"),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [index("account_user").on(table.userId)],
);

export const verification = pgTable(
  "verification",
  {
    id: text("id").primaryKey(),
    identifier: text("identifier").notNull(),
    value: text("value").notNull(),
    expiresAt: moment("expires_at").notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (table) => [index("verification_identifier").on(table.identifier), index("verification_end").on(table.expiresAt)],
);

export const walletAddress = pgTable(
  "wallet_address",
  {
    id: text("id").primaryKey(),
    userId: text("user_id")
      .notNull()
      .references(() => user.id, { onDelete: "cascade" }),
    address: text("address").notNull(),
    chainId: integer("chain_id").notNull(),
    isPrimary: boolean("is_primary").notNull().default(false),
    createdAt: createdAt(),
  },
  (table) => [uniqueIndex("wallet_address_once").on(table.address, table.chainId), index("wallet_address_user").on(table.userId)],
);

/** At a sign-in, better-auth reads the row and updates the counter. */
export const passkey = pgTable(
  "passkey",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    /** In COSE format, as base64. */
    publicKey: text("public_key").notNull(),
    userId: text("user_id")
      .notNull()
      .references(() => user.id, { onDelete: "cascade" }),
    credentialID: text("credential_id").notNull().unique(),
    /** If this value does not rise, the passkey may have been copied; it stays zero if the authenticator has no counter. */
    counter: bigint("counter", { mode: "number" }).notNull(),
    deviceType: text("device_type").notNull(),
    backedUp: boolean("backed_up").notNull(),
    /** How the authenticator can be reached (USB, NFC, …), joined by commas. */
    transports: text("transports"),
    aaguid: text("aaguid"),
    createdAt: createdAt(),
    lastUsedAt: moment("last_used_at"),
  },
  (table) => [index("passkey_user").on(table.userId)],
);

/** takeChallenge deletes the row before the answer is checked; the deletion of the session deletes it too. */
export const passkeyChallenges = pgTable(
  "passkey_challenges",
  {
    challenge: text("challenge").primaryKey(),
    kind: text("kind").notNull(),
    /** Random text from which the challenge for an approval is computed; null for other challenges. */
    nonce: text("nonce"),
    checkoutIntentId: text("checkout_intent_id"),
    sessionId: text("session_id")
      .notNull()
      .references(() => session.id, { onDelete: "cascade" }),
    userId: text("user_id").notNull(),
    expiresAt: moment("expires_at").notNull(),
  },
  (table) => [index("passkey_challenges_session").on(table.sessionId)],
);

/** A person's proof of identity for one act that is not an approval; `terms` is a hash that names exactly this act. */
export const actProofs = pgTable(
  "act_proofs",
  {
    proofId: text("proof_id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => session.id, { onDelete: "cascade" }),
    userId: text("user_id").notNull(),
    subjectId: text("subject_id").notNull(),
    terms: text("terms").notNull(),
    /** Null for a password. */
    passkeyId: text("passkey_id"),
    expiresAt: moment("expires_at").notNull(),
    usedAt: moment("used_at"),
    createdAt: createdAt(),
  },
  (table) => [index("act_proofs_of_session").on(table.sessionId, table.subjectId)],
);

export const organization = pgTable(
  "organization",
  {
    id: text("id").primaryKey(),
    name: text("name").notNull(),
    slug: text("slug").notNull().unique(),
    logo: text("logo"),
    metadata: text("metadata"),
    environment: text("environment").notNull(),
    productRoles: text("product_roles").array().notNull(),
    /** The time zone with which the editor starts a new mandate; null for the browser's time zone. */
    timezone: text("timezone"),
    /** See StepUpLimits; null for the default. */
    stepUpAbove: numeric("step_up_above"),
    stepUpAboveUnverified: numeric("step_up_above_unverified"),
    createdAt: createdAt(),
  },
  (table) => [
    check("organization_step_up_above", sql`step_up_above >= 0 AND step_up_above < 'NaN'`),
    check("organization_step_up_above_unverified", sql`step_up_above_unverified >= 0 AND step_up_above_unverified < 'NaN'`),
    index("organization_name_start").on(sql`lower(${table.name}) text_pattern_ops`),
    index("organization_slug_start").on(sql`${table.slug} text_pattern_ops`),
  ],
);

export const member = pgTable(
  "member",
  {
    id: text("id").primaryKey(),
    organizationId: text("organization_id")
      .notNull()
      .references(() => organization.id, { onDelete: "cascade" }),
    userId: text("user_id")
      .notNull()
      .references(() => user.id, { onDelete: "cascade" }),
    role: text("role").notNull().default("viewer"),
    createdAt: createdAt(),
  },
  (table) => [uniqueIndex("member_once").on(table.organizationId, table.userId), index("member_user").on(table.userId)],
);

export const invitation = pgTable(
  "invitation",
  {
    id: text("id").primaryKey(),
    organizationId: text("organization_id")
      .notNull()
      .references(() => organization.id, { onDelete: "cascade" }),
    email: text("email").notNull(),
    role: text("role"),
    status: text("status").notNull().default("pending"),
    expiresAt: moment("expires_at").notNull(),
    inviterId: text("inviter_id")
      .notNull()
      .references(() => user.id, { onDelete: "cascade" }),
    createdAt: createdAt(),
  },
  (table) => [index("invitation_organization").on(table.organizationId), index("invitation_email").on(table.email)],
);

/** Counts of attempts, such as sign-ins, for rate limits, in the columns that better-auth expects. */
export const rateLimit = pgTable("rate_limit", {
  id: text("id").primaryKey(),
  key: text("key").notNull().unique(),
  count: integer("count").notNull(),
  lastRequest: bigint("last_request", { mode: "number" }).notNull(),
});

export const serviceAccounts = pgTable(
  "service_accounts",
  {
    serviceAccountId: text("service_account_id").primaryKey(),
    organizationId: text("organization_id").notNull(),
    environment: text("environment").notNull(),
    name: text("name").notNull(),
    capabilities: text("capabilities").array().notNull(),
    createdBy: text("created_by").notNull(),
    createdAt: createdAt(),
    revokedAt: moment("revoked_at"),
    /** Set while the account is paused, so that its keys can only read. */
    pausedAt: moment("paused_at"),
    /** The only mandates that the account may use; null if no person limited the account to some mandates. */
    mandateIds: text("mandate_ids").array(),
  },
  (table) => [index("service_accounts_of_organization").on(table.organizationId, table.serviceAccountId)],
);

/**
 * A connection (an OAuth client that a person allowed) is a row here too, so that code that revokes keys also ends connections.
 * Its hash is empty, and no key has an empty hash; only the connection of the command-line program later gets a key.
 */
export const apiKeys = pgTable(
  "api_keys",
  {
    keyId: text("key_id").primaryKey(),
    serviceAccountId: text("service_account_id").notNull(),
    organizationId: text("organization_id").notNull(),
    secretHash: text("secret_hash").notNull(),
    preview: text("preview").notNull(),
    /** The person who made the key or allowed the OAuth client; if null, the creator of the account counts as the maker. */
    createdBy: text("created_by"),
    /** The OAuth client that a person allowed; null in the row of a key that a person created. */
    clientId: text("client_id"),
    /** What the person allowed to the client, at most the capabilities of the account; null for all of these. */
    scopes: text("scopes").array(),
    createdAt: createdAt(),
    expiresAt: moment("expires_at"),
    revokedAt: moment("revoked_at"),
  },
  (table) => [index("api_keys_of_account").on(table.serviceAccountId, table.createdAt)],
);

/** A separate table, so that a use does not rewrite the row of api_keys, which every request with a key reads. */
export const keyUses = pgTable("key_uses", {
  keyId: text("key_id").primaryKey(),
  lastUsedAt: moment("last_used_at").notNull(),
  address: text("address").notNull(),
  userAgent: text("user_agent"),
});
