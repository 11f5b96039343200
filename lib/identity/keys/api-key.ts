import { createHmac, createSecretKey, randomBytes, timingSafeEqual, type KeyObject } from "node:crypto";
import { crc32 } from "node:zlib";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";
import type { Environment } from "#lib/vocabulary.ts";

// csk_<environment>_<keyId>_<secret><checksum>: the secret has 256 random bits, so a fast hash is enough.

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const FORM = /^csk_(sandbox|production)_([0-9a-z]{16})_([0-9a-z]{52})([0-9a-z]{7})$/;

function base32(bytes: Uint8Array): string {
  let text = "";
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += ALPHABET[(buffer >> bits) & 31];
      buffer &= (1 << bits) - 1;
    }
  }
  return bits === 0 ? text : text + ALPHABET[(buffer << (5 - bits)) & 31];
}

function checksum(text: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(text));
  return base32(bytes);
}

const serverKey = (): KeyObject => perProcess("identity/keys/api-key", () => createSecretKey(env().API_KEY_SECRET, "utf8"));

export const hashApiKey = (apiKey: string): string => createHmac("sha256", serverKey()).update(apiKey).digest("base64url");

export type NewApiKey = {
  readonly keyId: string;
  /** The whole key, which is shown once and never stored. */
  readonly apiKey: string;
  readonly secretHash: string;
  readonly keyPreview: string;
};

export const newKeyId = (): string => base32(randomBytes(10));

export function newApiKey(environment: Environment, keyId = newKeyId()): NewApiKey {
  const body = `csk_${environment}_${keyId}_${base32(randomBytes(32))}`;
  const apiKey = body + checksum(body);
  return { keyId, apiKey, secretHash: hashApiKey(apiKey), keyPreview: `csk_${environment}_${keyId}_…${apiKey.slice(-4)}` };
}

export type PresentedKey = { readonly apiKey: string; readonly keyId: string; readonly environment: Environment };

/** Returns null if the text does not have the form and checksum of a key, for example because of a typing error. */
export function parseApiKey(text: string): PresentedKey | null {
  const parts = FORM.exec(text);
  if (!parts) return null;
  const [, environment, keyId, , sum] = parts;
  if (checksum(text.slice(0, -7)) !== sum) return null;
  return { apiKey: text, keyId: keyId!, environment: environment as Environment };
}

/** For an unknown key (`secretHash` is null) compares with zeros, so that it takes the same time as a wrong key. */
export function matchesApiKey(apiKey: string, secretHash: string | null): boolean {
  const presented = Buffer.from(hashApiKey(apiKey), "base64url");
  const stored = secretHash === null ? Buffer.alloc(32) : Buffer.from(secretHash, "base64url");
  return stored.length === presented.length && timingSafeEqual(presented, stored) && secretHash !== null;
}
