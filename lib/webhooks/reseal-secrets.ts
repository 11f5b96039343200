import { transact } from "#lib/audit/transact.ts";
import { changeEndpoint, endpointsUnderKeys, hasEndpointUnderOtherKey, lockEndpointOfAny } from "#lib/webhooks/endpoint-store.ts";
import { decrypt, encrypt, ringIds } from "#lib/key-ring.ts";

const AT_ONCE = 500;

const again = (text: string, id: string): string | null => {
  const bytes = decrypt(text, id);
  return bytes && encrypt(bytes, id);
};

/** Encrypts with the ring's first key, so that older keys can be removed. Returns how many endpoints it found, at most 500. */
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

/** Whether the ring has the key of each enabled endpoint's secrets; without it, messages to the endpoint cannot be signed. */
export const secretsAreReadable = async (): Promise<boolean> => !(await hasEndpointUnderOtherKey(ringIds()));
