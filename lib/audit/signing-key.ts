import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from "node:crypto";
import { env } from "#lib/env.ts";
import { P256_ORDER } from "#lib/p256.ts";
import { perProcess } from "#lib/process.ts";

/** A P-256 key pair. `keyId` is the thumbprint of the public key (RFC 7638). */
export type SigningKey = {
  readonly keyId: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly jwk: { readonly kty: "EC"; readonly crv: "P-256"; readonly x: string; readonly y: string };
};

/** The PKCS #8 bytes before the 32 bytes of a private P-256 key. OpenSSL computes the public key. */
const PKCS8 = Buffer.from("3041020100301306072a8648ce3d020106082a8648ce3d030107042730250201010420", "hex");

/** @throws Error if the number in the bytes is zero or too high for the curve */
export function signingKeyOf(seed: string): SigningKey {
  const der = Buffer.concat([PKCS8, Buffer.from(seed, "base64url")]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(privateKey);
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const keyId = createHash("sha256")
    .update(JSON.stringify({ crv: "P-256", kty: "EC", x, y }))
    .digest("base64url");
  return { keyId, privateKey, publicKey, jwk: { kty: "EC", crv: "P-256", x, y } };
}

/** The first key signs. The others are still published, so that their earlier signatures can be checked. */
export const signingKeys = (): readonly SigningKey[] =>
  perProcess("audit/signing-key", () => {
    const { AUDIT_SIGNING_KEY } = env();
    if (!AUDIT_SIGNING_KEY) throw new Error("AUDIT_SIGNING_KEY is not set.");
    return [...new Set(AUDIT_SIGNING_KEY.split(","))].map(signingKeyOf);
  });

export const signingKey = (): SigningKey => signingKeys()[0]!;

/** A JWK set (RFC 7517). */
export const publicKeys = () => ({
  keys: signingKeys().map(({ keyId, jwk }) => ({ ...jwk, kid: keyId, use: "sig", alg: "ES256" })),
});

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const numberOf = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString("hex")}`);

/** Each ECDSA signature has two valid forms; verifiers of receipts refuse the one with the higher `s` (requireLowS). */
function withLowS(signature: Buffer): Buffer {
  const s = numberOf(signature.subarray(32));
  if (s <= P256_ORDER / 2n) return signature;
  return Buffer.concat([signature.subarray(0, 32), Buffer.from((P256_ORDER - s).toString(16).padStart(64, "0"), "hex")]);
}

/** A JWS in compact serialization (RFC 7515) with ES256. */
export function signJws(typ: string, payload: unknown, { keyId, privateKey }: SigningKey = signingKey()): string {
  const text = `${encode({ alg: "ES256", kid: keyId, typ })}.${encode(payload)}`;
  const signature = withLowS(sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" }));
  return `${text}.${signature.toString("base64url")}`;
}

/** Returns null unless this key signed the text with this type. */
export function payloadOf(jws: string, typ: string, { keyId, publicKey }: SigningKey): Readonly<Record<string, unknown>> | null {
  const [header = "", payload = "", signature = ""] = jws.split(".");
  if (header !== encode({ alg: "ES256", kid: keyId, typ })) return null;
  const bytes = Buffer.from(signature, "base64url");
  const isOurs = verify("sha256", Buffer.from(`${header}.${payload}`), { key: publicKey, dsaEncoding: "ieee-p1363" }, bytes);
  return isOurs ? (JSON.parse(Buffer.from(payload, "base64url").toString()) as Readonly<Record<string, unknown>>) : null;
}
