import { createHmac } from "node:crypto";
import type { Row } from "postgres";
import { joined } from "#lib/db/bulk.ts";
import type { Sql } from "#lib/db/sql.ts";
import { env } from "#lib/env.ts";
import type { NewRecorded } from "#lib/holds/record-store.ts";
import { accountName, accountOf, type PayeeAccount } from "#lib/mandates/policy/compile-policy.ts";
import type { IntentFacts } from "#lib/mandates/policy/facts.ts";
import type { BatchFacts } from "#lib/payments/batch/facts.ts";
import type { AskedIntent } from "#lib/payment-intent.ts";
import { hasHold, type Item } from "#lib/payments/queue-item.ts";

/**
 * Differs between organizations, so that nobody finds out from stored rows that two of them pay the same account. Its kind does not
 * count, so that an IBAN is the same account if it is called one.
 */
const accountKey = (organizationId: string, account: PayeeAccount): string =>
  createHmac("sha256", env().API_KEY_SECRET)
    .update(`countersign.payee.v1\n${organizationId}\n${accountOf(account)}`)
    .digest("base64url");

/** A hash without a key would tell a reader of the database the account, because the rest of the request is stored. */
export const guardedFingerprint = ({ payee }: AskedIntent, fingerprint: string): string =>
  payee === undefined
    ? fingerprint
    : createHmac("sha256", env().API_KEY_SECRET)
        .update(`countersign.fingerprint.v1\n${fingerprint}`)
        .digest("base64url")
        .slice(0, fingerprint.length);

const SHOWN = 4;

/** Enough to recognize an account: what is left of it is not stored. Never half of a surrogate pair, which the database refuses to read. */
export function maskedAccount({ kind, value }: PayeeAccount): PayeeAccount {
  const text = [...accountOf({ kind, value })];
  const at = text.lastIndexOf("@");
  const from = kind !== "email" ? text.length - Math.min(SHOWN, Math.floor(text.length / 2)) : at < 0 ? text.length : at;
  const first = kind === "email" ? text.slice(0, 1) : [];
  return { kind, value: [...first, "…", ...text.slice(from)].join("") };
}

/** What a person is asked about: the reference, and where the money goes. */
export const referenceShown = ({ reference, payee }: Item["intent"]): string | undefined => {
  if (reference === undefined || !payee) return reference;
  const { kind, value } = maskedAccount(payee);
  return `${reference} to ${kind} ${value}`;
};

/** The same reference in another spelling has the same key. */
const referenceKey = (reference: string): string => {
  const key = reference
    .normalize("NFKC")
    .toUpperCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");
  return key === "" ? reference : key;
};

/** Of a payment that is made elsewhere: who is paid, and for what. */
type MadeElsewhere = {
  /** The seller's id, or the name of the account; null if the intent names neither. */
  readonly payee: string | null;
  /** As it is stored: the account only as a hash. */
  readonly payeeKey: string | null;
  readonly reference: string;
  readonly referenceKey: string;
};

/** The authorization that has a reference, and whether nothing was paid under it and nothing can be, so that another may have it. */
export type KnownReference = { readonly authorizationId: string; readonly isFree: boolean };

export function madeElsewhere({ intent, organizationId }: Item): MadeElsewhere | null {
  const { paymentChallengeType, payee, seller, reference = "" } = intent;
  if (paymentChallengeType !== "record") return null;
  const { sellerId = null } = seller;
  return {
    payee: sellerId ?? (payee ? accountName(payee) : null),
    payeeKey: sellerId ?? (payee ? accountKey(organizationId, payee) : null),
    reference,
    referenceKey: referenceKey(reference),
  };
}

/** Stands for no payee, as in the unique index. */
const NOBODY = "-";

const nameOf = (organizationId: string, { payeeKey, referenceKey: key }: Pick<MadeElsewhere, "payeeKey" | "referenceKey">) =>
  JSON.stringify([organizationId, payeeKey ?? NOBODY, key]);

/** What the policy is told. An approval decides again about its own payment, which has its reference already. */
export function recordFacts(item: Item, { references }: BatchFacts): Pick<IntentFacts, "record"> {
  const record = madeElsewhere(item);
  if (!record) return {};
  const known = hasHold(item) ? undefined : references.get(nameOf(item.organizationId, record));
  const before = known && !known.isFree ? known.authorizationId : null;
  return { record: { payee: record.payee, reference: record.reference, before } };
}

/** The next payment of the batch then finds the reference. */
export function bookReference(item: Item, authorizationId: string, { references }: BatchFacts): void {
  const record = madeElsewhere(item);
  if (record) references.set(nameOf(item.organizationId, record), { authorizationId, isFree: false });
}

const selectReferences = (c: Sql, items: readonly (readonly [string, string, string])[]) => c`
  SELECT p.organization_id, p.payee_key, p.reference_key, p.authorization_id,
    p.paid = 0 AND (p.status = 'closed' OR coalesce(r.status IN ('released', 'expired'), false)) AS is_free
  FROM unnest(string_to_array(${joined(items.map(([of]) => of))}, chr(1)), string_to_array(${joined(items.map(([, payee]) => payee))}, chr(1)),
    string_to_array(${joined(items.map(([, , key]) => key))}, chr(1))) AS w(organization_id, payee_key, reference_key),
  LATERAL (SELECT * FROM recorded_payments
    WHERE organization_id = w.organization_id AND coalesce(payee_key, '-') = w.payee_key AND reference_key = w.reference_key LIMIT 1) p
  LEFT JOIN LATERAL (SELECT status FROM changed_reservations WHERE authorization_id = p.authorization_id LIMIT 1) r ON true`;

/** Sends no query unless a payment is made elsewhere. */
export async function referencesOf(c: Sql, items: readonly Item[]): Promise<Partial<BatchFacts>> {
  const asked = items.flatMap((item): (readonly [string, string, string])[] => {
    const record = madeElsewhere(item);
    return record ? [[item.organizationId, record.payeeKey ?? NOBODY, record.referenceKey]] : [];
  });
  if (asked.length === 0) return {};
  const rows: readonly Row[] = await selectReferences(c, asked);
  const found = rows.map((row): [string, KnownReference] => [
    nameOf(row["organization_id"] as string, {
      payeeKey: row["payee_key"] as string | null,
      referenceKey: row["reference_key"] as string,
    }),
    { authorizationId: row["authorization_id"] as string, isFree: row["is_free"] as boolean },
  ]);
  return { references: new Map(found) };
}

/** The row of a payment that is held until it is recorded, and the authorization whose reference it takes. */
export type Recorded = { readonly row: NewRecorded; readonly frees: string | null };

type Authorized = { readonly authorizationId: string; readonly createdAt: Date; readonly deadline: Date };

export function recordedRow(item: Item, { authorizationId, ...times }: Authorized, { references }: BatchFacts): Recorded | null {
  const record = madeElsewhere(item);
  if (!record) return null;
  const { organizationId, environment, mandateId } = item;
  const { payeeKey, referenceKey: key } = record;
  const known = references.get(nameOf(organizationId, record));
  const row = { authorizationId, organizationId, environment, mandateId, payeeKey, referenceKey: key, ...times };
  return { row, frees: known?.isFree ? known.authorizationId : null };
}
