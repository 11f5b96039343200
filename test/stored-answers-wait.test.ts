import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import postgres from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { startEmbedded } from "#lib/db/embedded.ts";
import { migrate } from "#lib/db/migrate.ts";
import { authorizePayments } from "#lib/payments/authorize-payments.ts";
import { authorizePayments as operation } from "#lib/payments/contract.ts";
import { newIntent, post } from "#test/asking.ts";
import { revoke, suspend } from "#test/mandate-steps.ts";
import { activeMandate, createBuyer, type Buyer } from "#test/mandates.ts";
import { moveTo } from "#test/proxy.ts";
import { send } from "#test/tenant.ts";

/*
 * A commit waits for a standby that is away. When the wait is canceled, the transaction is visible on the primary, although a standby
 * that takes over may lack it. So what was stored is no answer before a standby has it.
 */

let buyer: Buyer;
let mandateId = "";
let admin: postgres.Sql;

const standbys = async (names: string): Promise<void> => {
  await admin.unsafe(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`);
  await admin`SELECT pg_reload_conf()`;
};

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-answers-"));
  await chmod(folder, 0o755);
  const server = await startEmbedded({ dataDir: folder });
  await migrate({ url: server.url, environment: "sandbox" });
  const before = process.env["DATABASE_URL"] ?? "";
  await moveTo(server.url);
  buyer = await createBuyer();
  mandateId = await activeMandate(buyer.person.credential);
  admin = postgres(server.url, { max: 1, connection: { synchronous_commit: "local" }, onnotice: () => {} });
  return async () => {
    await moveTo(before);
    await admin.end();
    await server.stop();
    for (const made of [server.directory, folder]) await rm(made, { recursive: true, force: true });
  };
});

/** Cancels each wait for a standby until the work has ended. */
async function canceling<T>(work: Promise<T>): Promise<T> {
  const end = new AbortController();
  const cancel = async (): Promise<void> => {
    for (; !end.signal.aborted; await pause(20))
      await admin`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  };
  const [result] = await Promise.all([work.finally(() => end.abort()), cancel()]);
  return result;
}

/** The statuses of the same request: sent while no standby is there, sent again, and sent when commits wait for none. */
async function statusesOf(send: () => Promise<{ readonly status: number }>): Promise<number[]> {
  await standbys("away");
  const statuses = [(await canceling(send())).status, (await canceling(send())).status];
  await standbys("");
  return [...statuses, (await send()).status];
}

describe("while no standby has it, no answer says that it is stored", () => {
  test("a payment", async () => {
    const body = { mandateId, intent: newIntent(buyer) };
    expect(await statusesOf(() => post(body, buyer.agent.credential))).toEqual([503, 503, 200]);
  });

  test("payments that are sent together", async () => {
    const body = { payments: [{ mandateId, intent: newIntent(buyer) }] };
    const statusOf = async () => {
      const { status, data } = await send(operation, authorizePayments, { as: buyer.agent.credential, body });
      return { status: status === 200 ? data.items[0]!.status : status };
    };
    expect(await statusesOf(statusOf)).toEqual([503, 503, 200]);
  });

  test("a suspension", async () => {
    expect(await statusesOf(() => suspend(buyer.person.credential, mandateId))).toEqual([503, 503, 200]);
  });

  test("a revocation", async () => {
    expect(await statusesOf(() => revoke(buyer.person.credential, mandateId))).toEqual([503, 503, 200]);
  });
});
