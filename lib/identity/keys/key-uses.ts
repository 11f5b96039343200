import { addressOf } from "#lib/http/address.ts";
import { saveKeyUses } from "#lib/identity/keys/key-use-store.ts";
import { perProcess } from "#lib/process.ts";

type Use = { at: number; readonly address: string; readonly userAgent: string | null };

const AGENT_MAX = 200;
/** The maximum number of rows per statement. */
const ROWS = 1_000;

const uses = (): Map<string, Use> => perProcess("keyUses", () => new Map());

/**
 * Records in memory that a key was used. Until the uses are stored, the address and user agent of the first use are kept, and
 * later uses change only the time. A process that is killed loses what it has not stored.
 */
export function noteKeyUse(keyId: string, request: Request): void {
  const at = performance.now();
  const known = uses().get(keyId);
  if (known) known.at = at;
  else {
    const userAgent = request.headers.get("user-agent")?.slice(0, AGENT_MAX) ?? null;
    uses().set(keyId, { at, address: addressOf(request), userAgent });
  }
}

/**
 * Stores the uses of API keys and connections since the last call; if the database refuses them, they are lost. A worker calls
 * this, and so does the shutdown before it closes the database.
 */
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
  for (let from = 0; from < rows.length; from += ROWS) await saveKeyUses(rows.slice(from, from + ROWS));
}
