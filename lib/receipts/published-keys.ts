import { calculateJwkThumbprint } from "jose";
import { z } from "zod";
import { Refusal } from "#lib/receipts/refusal.ts";

const Coordinate = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

const PublishedKey = z.strictObject({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: Coordinate,
  y: Coordinate,
  kid: z.string(),
  use: z.literal("sig"),
  alg: z.literal("ES256"),
});
export type PublishedKey = z.infer<typeof PublishedKey>;

const KeySet = z.strictObject({ keys: z.array(PublishedKey).min(1).max(1_000) });

/** The keys of a service by their id, which must be their thumbprint (RFC 7638). */
export type PublishedKeys = ReadonlyMap<string, PublishedKey>;

export async function readKeys(value: unknown): Promise<PublishedKeys> {
  const { data } = KeySet.safeParse(value);
  if (!data)
    throw new Refusal('The keys are not a set of published keys: {"keys": [...]} with P-256 keys for ES256 and nothing else.');
  const keys = new Map<string, PublishedKey>();
  for (const key of data.keys) {
    if ((await calculateJwkThumbprint(key)) !== key.kid)
      throw new Refusal(
        "The id of a published key is not the thumbprint of the key, so the keys were changed or are not from this service.",
      );
    if (keys.has(key.kid)) throw new Refusal("A published key occurs twice in the set of keys.");
    keys.set(key.kid, key);
  }
  return keys;
}
