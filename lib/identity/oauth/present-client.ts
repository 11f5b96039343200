import type { AgentClient } from "#lib/identity/oauth/contract.ts";
import type { ClientRow } from "#lib/identity/oauth/client-store.ts";
import { toWire } from "#lib/time.ts";

export const presentClient = ({ clientId, name, redirectUris, createdAt }: ClientRow): AgentClient => ({
  clientId,
  name,
  redirectUris: [...redirectUris],
  createdAt: toWire(createdAt),
});
