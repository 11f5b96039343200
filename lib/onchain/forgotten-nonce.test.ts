import { sql } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { relay } from "#lib/onchain/relay/relay-worker.ts";
import { relayNow } from "#lib/onchain/relay/queue-relay.ts";
import { relayedTransactions } from "#lib/onchain/tables.ts";
import { useDatabase } from "#test/database.ts";
import { useSettlement } from "#test/payments.ts";
import { useContracts } from "#test/registered.ts";
import { fundSenders, makeDue, queued, relayRowOf } from "#test/relays.ts";

useDatabase();
const chain = useSettlement();
const contracts = useContracts(chain);
beforeAll(() => fundSenders(chain()));

async function relayed() {
  const relayId = await queued(contracts());
  expect(await relayNow(relayId, { timeoutMs: 5_000 })).toMatchObject({ hash: expect.stringMatching(/^0x/) });
  await makeDue();
  await relay();
  return relayRowOf(relayId);
}

test("if a reorganization removes a relayed transaction, the next transaction gets its nonce", async () => {
  const snapshot = await chain().client.snapshot();
  const first = await relayed();
  expect(first.status).toBe("mined");
  await chain().client.revert({ id: snapshot });
  await database()
    .update(relayedTransactions)
    .set({ resolvedAt: sql`resolved_at - interval '31 seconds'` });
  expect(await relayed()).toMatchObject({ status: "mined", nonce: first.nonce });
});
