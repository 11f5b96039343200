import { base64url, compactVerify, errors, importJWK } from "jose";
import { P256_ORDER } from "#lib/p256.ts";
import type { PublishedKey, PublishedKeys } from "#lib/receipts/published-keys.ts";
import { Refusal } from "#lib/receipts/refusal.ts";
import { parseObject } from "#lib/receipts/strict-json.ts";

const SIGNATURE_BYTES = 64;

/** A kind of signed token: the value of its header `typ`, and its name in messages. */
type Named = { readonly typ: string; readonly name: string };
export const receiptToken: Named = { typ: "decision-receipt+jwt", name: "receipt" };
export const headToken: Named = { typ: "log-head+jwt", name: "signed head" };

function bytesOf(part: string, name: string): Uint8Array {
  try {
    const bytes = base64url.decode(part);
    if (base64url.encode(bytes) === part) return bytes;
  } catch {
    // The text is not base64url.
  }
  throw new Refusal(`The ${name} is not written in base64url's only form for its content, so it was changed.`);
}

function objectOf(bytes: Uint8Array): Readonly<Record<string, unknown>> | null {
  try {
    return parseObject(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return null;
  }
}

/** The published key that the header of the token names. @throws Refusal */
function keyOf(header: Readonly<Record<string, unknown>> | null, { typ, name }: Named, keys: PublishedKeys): PublishedKey {
  if (!header || Object.keys(header).toSorted().join() !== "alg,kid,typ")
    throw new Refusal(`The header of the ${name} must have the members alg, kid and typ, and no others.`);
  if (header["alg"] !== "ES256") throw new Refusal(`The ${name} is signed with another algorithm than ES256.`);
  if (header["typ"] !== typ) throw new Refusal(`The ${name} is another kind of token: its typ is not ${typ}.`);
  const key = keys.get(String(header["kid"]));
  if (!key) throw new Refusal(`The key that signed the ${name} is not among the published keys.`);
  return key;
}

/** Requires the lower of the two values of s; with both, anybody could make a second valid signature. @throws Refusal */
function requireLowS(signature: Uint8Array, name: string): void {
  if (signature.length !== SIGNATURE_BYTES) throw new Refusal(`The signature of the ${name} does not have 64 bytes.`);
  const s = signature.slice(SIGNATURE_BYTES / 2).reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  if (s > P256_ORDER / 2n)
    throw new Refusal(`The signature of the ${name} is not in its only allowed form (low s), so it was changed.`);
}

async function isSigned(jws: string, key: PublishedKey): Promise<boolean> {
  try {
    await compactVerify(jws, await importJWK(key, "ES256"), { algorithms: ["ES256"] });
    return true;
  } catch (error) {
    // WebCrypto refuses a point that is not on the curve with a DOMException.
    if (error instanceof errors.JOSEError || error instanceof DOMException) return false;
    throw error;
  }
}

/** The payload of a JWS in compact serialization that was signed with one of the keys. @throws Refusal */
export async function readJws(jws: string, named: Named, keys: PublishedKeys): Promise<Readonly<Record<string, unknown>>> {
  const { name } = named;
  const parts = jws.split(".");
  if (parts.length !== 3) throw new Refusal(`The ${name} is not a JWS of three parts.`);
  const [header, payload, signature] = parts.map((part) => bytesOf(part, name)) as [Uint8Array, Uint8Array, Uint8Array];
  const key = keyOf(objectOf(header), named, keys);
  requireLowS(signature, name);
  if (!(await isSigned(jws, key)))
    throw new Refusal(`The signature of the ${name} is not valid, so it was changed or another key signed it.`);
  const content = objectOf(payload);
  if (!content) throw new Refusal(`The content of the ${name} is not a JSON object with each member once.`);
  return content;
}
