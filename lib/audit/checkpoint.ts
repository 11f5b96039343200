import { createHash, createPrivateKey, createPublicKey, sign, verify, type KeyObject } from "node:crypto";
import type { AuditHead } from "#lib/audit/chain.ts";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

/** The head of a chain at some time, signed. */
export type Checkpoint = AuditHead & {
  readonly chain: string;
  readonly keyId: string;
  /** Ed25519, base64url. */
  readonly signature: string;
  readonly createdAt: Date;
};

export type SigningKey = { readonly keyId: string; readonly privateKey: KeyObject; readonly publicKey: KeyObject };

/** The PKCS #8 prefix before the seed of an Ed25519 key. */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** The key of a seed of 32 bytes in base64url. Its id is the start of the public key's SHA-256. */
export function signingKeyOf(seed: string): SigningKey {
  const der = Buffer.concat([PKCS8, Buffer.from(seed, "base64url")]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(privateKey);
  const keyId = createHash("sha256")
    .update(publicKey.export({ format: "der", type: "spki" }))
    .digest("hex");
  return { keyId: keyId.slice(0, 16), privateKey, publicKey };
}

export const signingKey = (): SigningKey =>
  perProcess("auditSigningKey", () => {
    const { AUDIT_SIGNING_KEY } = env();
    if (!AUDIT_SIGNING_KEY) throw new Error("AUDIT_SIGNING_KEY is not set.");
    return signingKeyOf(AUDIT_SIGNING_KEY);
  });

type CheckpointBody = Omit<Checkpoint, "signature" | "keyId">;

const textOf = ({ chain, sequence, hash, createdAt }: CheckpointBody): Buffer =>
  Buffer.from(`countersign.checkpoint.v1\n${chain}\n${sequence}\n${hash}\n${createdAt.toISOString()}`);

export function signCheckpoint(head: CheckpointBody, { keyId, privateKey }: SigningKey): Checkpoint {
  return { ...head, keyId, signature: sign(null, textOf(head), privateKey).toString("base64url") };
}

/** False for an invalid time too, which cannot have been signed. */
export const isSignedBy = (checkpoint: Checkpoint, { keyId, publicKey }: SigningKey): boolean =>
  checkpoint.keyId === keyId &&
  !Number.isNaN(checkpoint.createdAt.getTime()) &&
  verify(null, textOf(checkpoint), publicKey, Buffer.from(checkpoint.signature, "base64url"));

/** The data for checking an export without this service. */
export const describeKey = ({ keyId, publicKey }: SigningKey) => ({
  algorithm: "Ed25519",
  keyId,
  publicKey: publicKey.export({ format: "pem", type: "spki" }).toString(),
  signs: "countersign.checkpoint.v1\\n<chain>\\n<sequence>\\n<hash>\\n<createdAt>",
});
