import { transact } from "#lib/audit/transact.ts";
import { changeEndpoint, endpointsUnderKeys, hasEndpointUnderOtherKey, lockEndpointOfAny } from "#lib/webhooks/endpoint-store.ts";
import { decrypt, encrypt, ringIds } from "#lib/webhooks/key-ring.ts";

const AT_ONCE = 500;

const again = (text: string, id: string): string | null => {
  const bytes = decrypt(text, id);
  return bytes && encrypt(bytes, id);
};

/**
 * Encrypts the secrets of at most 500 endpoints again with the first key of the ring, so that the older keys can be removed.
 * Returns the number of endpoints whose current or previous secrets were encrypted with an older key.
 */
export async function resealSecrets(): Promise<number> {
  const [, ...older] = ringIds();
  const ids = await endpointsUnderKeys(older, AT_ONCE);
  for (const id of ids)
    await transact(async (tx) => {
      const row = await lockEndpointOfAny(tx, id);
      if (!row) return;
      const { sealed, previousSealed } = row;
      await changeEndpoint(tx, id, {
        sealed: again(sealed, id) ?? sealed,
        previousSealed: previousSealed && (again(previousSealed, id) ?? previousSealed),
      });
    });
  return ids.length;
}

/**
 * Whether the current secrets of all enabled endpoints were encrypted with a key of the ring. Other secrets cannot be
 * decrypted, so messages to their endpoints cannot be signed.
 */
export const secretsAreReadable = async (): Promise<boolean> => !(await hasEndpointUnderOtherKey(ringIds()));
