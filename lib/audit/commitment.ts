import { createHash, randomBytes } from "node:crypto";
import { canonicalJson } from "#lib/canonical-json.ts";
import type { AuditEvent } from "#lib/audit/chain.ts";

/** Hashes or salts, in hexadecimal, by the names of fields of the metadata. */
export type ByMember = Readonly<Record<string, string>>;

/** A field of an event's metadata with personal data. `text` is canonical JSON (RFC 8785). */
export type PersonalText = { readonly name: string; readonly salt: string; readonly text: string };

/** The hash of an event covers salted hashes of these fields instead of the fields, so that a field can be erased. */
const PERSONAL: readonly string[] = ["clientName", "email", "filter", "name", "reason", "slug"];

const SALT_BYTES = 32;

/** `text` is canonical JSON (RFC 8785). Without the salt, nobody can find the text by trying likely values. */
const commitmentTo = (salt: string, text: string): string =>
  createHash("sha256").update(Buffer.from(salt, "hex")).update(text).digest("hex");

export function commitTexts<E extends AuditEvent>(event: E): E {
  const names = PERSONAL.filter((name) => event.metadata[name] !== undefined);
  if (names.length === 0) return event;
  const salts = Object.fromEntries(names.map((name) => [name, randomBytes(SALT_BYTES).toString("hex")]));
  const commitments = names.map((name) => [name, commitmentTo(salts[name]!, canonicalJson(event.metadata[name]))]);
  return { ...event, salts, commitments: Object.fromEntries(commitments) as ByMember };
}

/** This part of the metadata is hashed and is stored in the event's row. */
export const hashedMetadata = ({ metadata, commitments }: AuditEvent): AuditEvent["metadata"] =>
  commitments ? Object.fromEntries(Object.entries(metadata).filter(([name]) => !Object.hasOwn(commitments, name))) : metadata;

/** The fields with personal data that were not erased. */
export const personalTexts = ({ metadata, salts }: AuditEvent): PersonalText[] =>
  Object.entries(salts ?? {}).map(([name, salt]) => ({ name, salt, text: canonicalJson(metadata[name]) }));

/** A field that was erased has no salt, so there is nothing to compare. */
export const hasItsTexts = (event: AuditEvent): boolean =>
  personalTexts(event).every(({ name, salt, text }) => commitmentTo(salt, text) === event.commitments?.[name]);
