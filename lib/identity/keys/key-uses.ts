import { addressOf } from "#lib/http/address.ts";
import { saveKeyUses } from "#lib/identity/keys/key-use-store.ts";
import { perProcess } from "#lib/process.ts";

type Use = { at: number; readonly address: string; readonly userAgent: string | null };

const AGENT_MAX = 200;
const ROWS = 1_000;

const uses = (): Map<string, Use> => perProcess("identity/keys/key-uses", () => new Map());

/** Until the next flush, keeps the key's last time of use and its first address and user agent in memory; a crash loses them. */
export function noteKeyUse(keyId: string, request: Request): void {
  const at = performance.now();
  const known = uses().get(keyId);
  if (known) known.at = at;
  else {
    const userAgent = request.headers.get("user-agent")?.slice(0, AGENT_MAX) ?? null;
    uses().set(keyId, { at, address: addressOf(request), userAgent });
  }
}

/** Uses that the database refuses are kept for the next flush, at most one for each key. */
export async function flushKeyUses(): Promise<void> {
  const noted = [...uses()];
  uses().clear();
  const now = performance.now();
  const rows = noted.map(([keyId, { at, address, userAgent }]) => ({
    keyId,
    secondsAgo: (now - at) / 1_000,
    address,
    userAgent,
  }));
  let from = 0;
  try {
    for (; from < rows.length; from += ROWS) await saveKeyUses(rows.slice(from, from + ROWS));
  } catch (error) {
    for (const [keyId, use] of noted.slice(from)) if (!uses().has(keyId)) uses().set(keyId, use);
    throw error;
  }
}
