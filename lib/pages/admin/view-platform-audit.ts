import { countChains, newestCheckpoints } from "#lib/audit/checkpoint-store.ts";
import type { AuditEvent } from "#lib/audit-event.ts";
import { readEnds } from "#lib/audit/read-store.ts";
import type { Input } from "#lib/http/operation.ts";
import type * as contract from "#lib/platform/contract.ts";
import { namesOf } from "#lib/platform/directory-store.ts";
import { readAllEvents } from "#lib/platform/list-platform-audit-events.ts";
import { toWire } from "#lib/time.ts";

const CHECKPOINTS = 5;

export type AuditLine = AuditEvent & { readonly actorName: string | null };

export async function withNames(items: readonly AuditEvent[]): Promise<readonly AuditLine[]> {
  const people = [...new Set(items.map(({ actorId }) => actorId).filter((id) => id.startsWith("usr_")))];
  const names = await namesOf(people);
  return items.map((event) => ({ ...event, actorName: names.get(event.actorId) ?? null }));
}

export async function viewAuditLog(query: Input<typeof contract.listPlatformAuditEvents>["query"]) {
  const { items, nextCursor } = await readAllEvents(query);
  return { items: await withNames(items), nextCursor };
}

export type ChainView = Awaited<ReturnType<typeof viewChain>>;

export async function viewChain(chain: string) {
  const [ends, checkpoints, totals] = await Promise.all([readEnds(chain), newestCheckpoints(chain, CHECKPOINTS), countChains()]);
  return {
    chain,
    events: ends?.sequence ?? 0,
    head: ends?.hash ?? null,
    checkpoints: checkpoints.map(({ sequence, hash, keyId, createdAt }) => ({
      sequence,
      hash,
      keyId,
      signedAt: toWire(createdAt),
    })),
    totals,
  };
}
