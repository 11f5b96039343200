import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

type RingKey = { readonly id: string; readonly key: Buffer };

const NONCE = 12;
const TAG = 16;
const VERSION = "1";

function ringKey(secret: string): RingKey {
  const key = Buffer.from(hkdfSync("sha256", secret, "", "countersign.webhook-secrets.v1", 32));
  return { key, id: createHash("sha256").update(key).digest("hex").slice(0, 16) };
}

/** The keys of WEBHOOK_ENCRYPTION_KEY, then the one from API_KEY_SECRET. The first one encrypts, each one decrypts. */
const ring = (): readonly [RingKey, ...RingKey[]] =>
  perProcess("key-ring", () => {
    const { WEBHOOK_ENCRYPTION_KEY: given = "", API_KEY_SECRET } = env();
    return [...given.split(",").filter(Boolean), API_KEY_SECRET].map(ringKey) as [RingKey, ...RingKey[]];
  });

/** The ids of the keys in the ring. Encrypted text begins with a version and the id of its key. */
export const ringIds = (): readonly [string, ...string[]] => ring().map(({ id }) => id) as [string, ...string[]];

/** The text cannot be decrypted if somebody copies it to another endpoint's row. */
export function encrypt(bytes: Buffer, endpointId: string): string {
  const [{ id, key }] = ring();
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(endpointId));
  const sealed = Buffer.concat([cipher.update(bytes), cipher.final()]);
  return [VERSION, id, Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64url")].join(".");
}

/** Returns null if the key is not in the ring any more, or if the text was changed or belongs to another endpoint. */
export function decrypt(text: string, endpointId: string): Buffer | null {
  const [, keyId, content = ""] = text.split(".");
  const known = ring().find(({ id }) => id === keyId);
  const bytes = Buffer.from(content, "base64url");
  if (!known || bytes.length < NONCE + TAG) return null;
  const decipher = createDecipheriv("aes-256-gcm", known.key, bytes.subarray(0, NONCE), { authTagLength: TAG });
  decipher.setAAD(Buffer.from(endpointId)).setAuthTag(bytes.subarray(NONCE, NONCE + TAG));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]);
  } catch {
    return null;
  }
}
