import { calculateJwkThumbprint } from "jose";
import { z } from "zod";
import { Refusal } from "#lib/receipts/refusal.ts";

const Coordinate = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

/** One published key. Other members of a key, such as an expiry, are ignored (RFC 7517, section 4). */
const PublishedKey = z.object({
  kty: z.literal("EC"),
  crv: z.literal("P-256"),
  x: Coordinate,
  y: Coordinate,
  kid: z.string(),
  use: z.literal("sig"),
  alg: z.literal("ES256"),
});
export type PublishedKey = z.infer<typeof PublishedKey>;

/** Whether a key contains its private part. Such a key proves nothing, because anybody can sign with it. */
const isPrivate = (key: unknown): boolean => typeof key === "object" && key !== null && "d" in key;

/** The published keys. Keys of other kinds are ignored (RFC 7517, section 5), and so are keys with their private part. */
const KeySet = z.object({
  keys: z
    .array(z.unknown())
    .max(1_000)
    .transform((keys) => keys.flatMap((key) => (isPrivate(key) ? [] : (PublishedKey.safeParse(key).data ?? []))))
    .refine((keys) => keys.length > 0),
});

/** The keys of a service by their id, which must be their thumbprint (RFC 7638). */
export type PublishedKeys = ReadonlyMap<string, PublishedKey>;

export async function readKeys(value: unknown): Promise<PublishedKeys> {
  const { data } = KeySet.safeParse(value);
  if (!data) throw new Refusal('The keys are not a set of published keys: {"keys": [...]} with P-256 keys for ES256.');
  const keys = new Map<string, PublishedKey>();
  for (const key of data.keys) {
    if ((await calculateJwkThumbprint(key)) !== key.kid)
      throw new Refusal(
        "The id of a published key is not the thumbprint of the key, so the keys were changed or are not from this service.",
      );
    keys.set(key.kid, key);
  }
  return keys;
}
