import { createHash, randomBytes } from "node:crypto";
import { canonicalJson } from "#lib/canonical-json.ts";
import type { AuditEvent } from "#lib/audit/chain.ts";

/** A hexadecimal hash or salt for each personal member of the metadata. */
export type ByMember = Readonly<Record<string, string>>;

/** A personal member of an event's metadata: what audit_texts has in one row. */
export type PersonalText = { readonly name: string; readonly salt: string; readonly text: string };

/**
 * The members of metadata that people write or that name people. They can be erased later, so the hashed event has a commitment instead.
 * Entries are append-only: an event that was written without a commitment keeps its text in its hash.
 */
const PERSONAL: readonly string[] = ["email", "filter", "name", "reason", "slug"];

const SALT_BYTES = 32;

/** SHA-256 of the salt and the text, which is the member as canonical JSON. Nobody can guess the text without the salt. */
const commitmentTo = (salt: string, text: string): string =>
  createHash("sha256").update(Buffer.from(salt, "hex")).update(text).digest("hex");

/** Adds salts and commitments for the personal members of an event. An event without such members stays the same. */
export function commit<E extends AuditEvent>(event: E): E {
  const names = PERSONAL.filter((name) => event.metadata[name] !== undefined);
  if (names.length === 0) return event;
  const salts = Object.fromEntries(names.map((name) => [name, randomBytes(SALT_BYTES).toString("hex")]));
  const commitments = names.map((name) => [name, commitmentTo(salts[name]!, canonicalJson(event.metadata[name]))]);
  return { ...event, salts, commitments: Object.fromEntries(commitments) as ByMember };
}

/** The metadata without its personal members, as it is hashed and stored with the event. */
export const hashedMetadata = ({ metadata, commitments }: AuditEvent): AuditEvent["metadata"] =>
  commitments ? Object.fromEntries(Object.entries(metadata).filter(([name]) => !Object.hasOwn(commitments, name))) : metadata;

/** The personal texts of an event that are not erased. */
export const personalTexts = ({ metadata, salts }: AuditEvent): PersonalText[] =>
  Object.entries(salts ?? {}).map(([name, salt]) => ({ name, salt, text: canonicalJson(metadata[name]) }));

/** Whether each text of an event is the one that its hash commits to. An erased text has no salt, and nothing is left to compare. */
export const hasItsTexts = (event: AuditEvent): boolean =>
  personalTexts(event).every(({ name, salt, text }) => commitmentTo(salt, text) === event.commitments?.[name]);
