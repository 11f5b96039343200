import type { Passkey } from "#lib/identity/passkeys/contract.ts";
import type { PasskeyRow } from "#lib/identity/passkeys/store.ts";
import { toWire } from "#lib/time.ts";

export const presentPasskey = ({ id, name, backedUp, createdAt, lastUsedAt }: PasskeyRow): Passkey => ({
  passkeyId: id,
  name,
  synced: backedUp,
  createdAt: toWire(createdAt),
  ...(lastUsedAt && { lastUsedAt: toWire(lastUsedAt) }),
});
