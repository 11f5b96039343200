import { eventText, type AuditEvent } from "#lib/audit/chain.ts";
import { storedHashes } from "#lib/audit/read-store.ts";
import { inclusionPath, type StoredHash } from "#lib/audit/tree.ts";

/** An inclusion proof (RFC 9162) in the tree of the first `treeSize` events. `event` is the text that is hashed as the leaf. */
export type Inclusion = {
  readonly event: string;
  readonly leafIndex: number;
  readonly treeSize: number;
  readonly path: string[];
};

type Placed = AuditEvent & { readonly chain: string; readonly sequence: number };

export async function inclusionOf(event: Placed, treeSize: number): Promise<Inclusion> {
  const leafIndex = event.sequence - 1;
  const calculate = (stored: StoredHash) => inclusionPath(leafIndex, treeSize, stored);
  return { event: eventText(event), leafIndex, treeSize, path: calculate(await storedHashes(event.chain, calculate)) };
}
