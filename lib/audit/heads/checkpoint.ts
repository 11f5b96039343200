import type { SignedHead } from "#lib/audit/chain.ts";
import { payloadOf, signingKey, signingKeys, signJws, type SigningKey } from "#lib/audit/signing-key.ts";
import { env } from "#lib/env.ts";

/** A signed tree head of an audit log (RFC 9162). */
export type Checkpoint = SignedHead & {
  readonly chain: string;
  readonly keyId: string;
  /** A JWS of the type log-head+jwt, which contains the tree head. */
  readonly signature: string;
  readonly createdAt: Date;
};

const TYPE = "log-head+jwt";

type Unsigned = SignedHead & { readonly chain: string; readonly createdAt: Date };

const claimsOf = ({ chain, sequence, hash, createdAt }: Unsigned) => ({
  iat: Math.floor(createdAt.getTime() / 1_000),
  log: chain,
  size: sequence,
  root: hash,
});

export function signCheckpoint(head: Unsigned, key: SigningKey): Checkpoint {
  const { chain, sequence, hash, createdAt } = head;
  const signature = signJws(TYPE, { iss: env().BASE_URL, ...claimsOf(head) }, key);
  return { chain, sequence, hash, createdAt, keyId: key.keyId, signature };
}

/** Returns null unless one of this installation's keys signed the JWS as a tree head. */
export function headIn(jws: string): Checkpoint | null {
  for (const key of signingKeys()) {
    const payload = payloadOf(jws, TYPE, key);
    if (!payload) continue;
    const { log, size, root, iat } = payload as { log: string; size: number; root: string; iat: number };
    return { chain: log, sequence: size, hash: root, keyId: key.keyId, signature: jws, createdAt: new Date(iat * 1_000) };
  }
  return null;
}

/** Signs again with the current key and service address, which a new receipt has too. Null if isSigned is false. */
export const headOf = (checkpoint: Checkpoint): string | null =>
  isSigned(checkpoint) ? signCheckpoint(checkpoint, signingKey()).signature : null;

/** Whether one of this installation's keys signed the checkpoint. */
export function isSigned(checkpoint: Checkpoint): boolean {
  const key = signingKeys().find(({ keyId }) => keyId === checkpoint.keyId);
  const payload = key && payloadOf(checkpoint.signature, TYPE, key);
  return !!payload && Object.entries(claimsOf(checkpoint)).every(([name, value]) => payload[name] === value);
}
