import { transact } from "#lib/audit/transact.ts";
import { changeEndpoint, endpointsUnderKeys, hasEndpointUnderOtherKey, lockEndpointOfAny } from "#lib/webhooks/endpoint-store.ts";
import { decrypt, encrypt, ringIds } from "#lib/webhooks/key-ring.ts";

const AT_ONCE = 500;

const again = (text: string, id: string): string | null => {
  const bytes = decrypt(text, id);
  return bytes && encrypt(bytes, id);
};

/** Encrypts with the first key of the ring, so that older keys can be removed. Returns how many endpoints had an older key. */
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

/** Messages to an endpoint whose secrets cannot be decrypted cannot be signed. */
export const secretsAreReadable = async (): Promise<boolean> => !(await hasEndpointUnderOtherKey(ringIds()));
