import { chmod, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { countAlarms } from "#lib/audit/checkpoint-store.ts";
import { signCheckpoints } from "#lib/audit/sign-checkpoints.ts";
import { migrate } from "#lib/db/migrate.ts";
import { forget } from "#lib/process.ts";
import { createDatabase, useDatabase } from "#test/database.ts";
import { newPostgres, startIn } from "#test/debian-postgres.ts";
import { brokenSums } from "#test/invariants.ts";
import { assets, createBuyer, draftMandate } from "#test/mandates.ts";
import { codeOf, runCode } from "#test/page-code.ts";
import {
  authorized,
  execute,
  expectedOf,
  fundedWallet,
  paymentScene,
  signed,
  useSettlement,
  type PaymentScene,
} from "#test/payments.ts";
import { moveTo } from "#test/proxy.ts";
import { startServer } from "#test/server.ts";
import type { Credential } from "#test/tenant.ts";

/* The commands of docs/operate/backup.md, as they stand there, with PostgreSQL 15 and its programs. */

const PAGE = "backup.md";
const database = useDatabase();
const chain = useSettlement();

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-backup-"));
  await chmod(folder, 0o777);
  return () => rm(folder, { recursive: true, force: true });
});

const policy = { assets, limits: { perPayment: "1", total: "1000000" } };
const newScene = () => paymentScene({ settlementMode: "facilitatorSettled", mandate: { policy } });

/** Executes a payment of the scene, which the service then settles. */
async function paid(scene: PaymentScene): Promise<string> {
  const { authorizationId } = await authorized(scene);
  const paymentCredential = await signed(await fundedWallet(chain()), expectedOf(scene));
  expect((await execute(scene, { authorizationId, paymentCredential })).status).toBe(200);
  return authorizationId;
}

type Asked = { readonly as: Credential; readonly path: string };

const paymentsOf = ({ person }: PaymentScene, ids: readonly string[]): Asked[] =>
  ids.map((id) => ({ as: person.credential, path: `payments/${id}` }));

/** What people of the buyer and of the seller can read, and these payments. */
const readsOf = (scene: PaymentScene, payments: readonly string[]): Asked[] => {
  const { person, owner, mandateId } = scene;
  const buyer = ["payments", "mandates", "audit/events", "events", "auth/service-accounts", "billing/fees", "webhooks"];
  const seller = ["sellers", "seller/resources", "settlements", "audit/events"];
  return [
    ...[...buyer, `mandates/${mandateId}`, `mandates/${mandateId}/ledger`].map((path) => ({ as: person.credential, path })),
    ...seller.map((path) => ({ as: owner.credential, path })),
    ...paymentsOf(scene, payments),
  ];
};

const read = (url: string, asked: readonly Asked[]) =>
  Promise.all(
    asked.map(async ({ as, path }) => {
      const reply = await fetch(`${url}/api/v1/${path}`, { headers: as });
      return { path, status: reply.status, text: await reply.text() };
    }),
  );

async function expectVerified(url: string, { person, owner }: PaymentScene): Promise<void> {
  for (const { credential } of [person, owner]) {
    const headers = { ...credential, "content-type": "application/json" };
    const reply = await fetch(`${url}/api/v1/audit/verify`, { method: "POST", headers, body: "{}" });
    expect(await reply.json()).toMatchObject({ valid: true });
  }
}

/** Authorizes payments by four clients until `stop`. `ids` are the payments that were allowed so far. */
function load(url: string, { agent, mandateId, seller: { sellerId, resourceId, price } }: PaymentScene) {
  const end = new AbortController();
  const ids: string[] = [];
  const headers = { ...agent.credential, "content-type": "application/json" };
  const client = async (number: number): Promise<void> => {
    for (let turn = 0; !end.signal.aborted; turn += 1) {
      const name = `load-${number}-${turn}`;
      const expiresAt = new Date(Date.now() + 600_000).toISOString();
      const named = { intentId: name, nonce: name, idempotencyKey: name };
      const intent = { ...named, seller: { sellerId }, resource: { resourceId }, amount: price, asset: "USDC", expiresAt };
      const body = JSON.stringify({ mandateId, intent });
      const reply = await fetch(`${url}/api/v1/payments/authorize`, { method: "POST", headers, body });
      expect(reply.status).toBe(200);
      ids.push(((await reply.json()) as { readonly authorizationId: string }).authorizationId);
    }
  };
  const running = Promise.all([0, 1, 2, 3].map(client));
  const stop = async (): Promise<void> => {
    end.abort();
    await running;
  };
  return { ids, stop };
}

async function isRecovering(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1 });
  const [row] = await sql<{ recovering: boolean }[]>`SELECT pg_is_in_recovery() AS recovering`;
  await sql.end();
  return row!.recovering;
}

describe("a dump", () => {
  test("made under load is restored: all reads are the same, the sums are right, and the audit logs verify", async () => {
    const [quiet, busy] = [await newScene(), await newScene()];
    const still = readsOf(quiet, [await paid(quiet), await paid(quiet), (await authorized(quiet)).authorizationId]);
    const old = await startServer();
    const loaded = load(old.url, busy);
    await expect.poll(() => loaded.ids.length).toBeGreaterThan(50);
    const variables = { DATABASE_URL: database().url, SERVER_URL: inject("cluster").url, DUMP: join(folder, "countersign.dump") };
    const [dump, restore = ""] = await codeOf(PAGE, "A dump");
    const acknowledged = loaded.ids.length;
    await runCode(dump, variables);
    const dumped = loaded.ids.length;
    await expect.poll(() => loaded.ids.length).toBeGreaterThan(dumped + 50);
    await loaded.stop();
    const payments = paymentsOf(busy, loaded.ids);
    const before = [await read(old.url, still), await read(old.url, payments)];
    await old.stop();

    const RESTORED_URL = Object.assign(new URL(variables.SERVER_URL), { pathname: "restored" }).href;
    await runCode(restore, { ...variables, RESTORED_URL });
    onTestFinished(async () => {
      await moveTo(variables.DATABASE_URL);
      await runCode(`psql "$SERVER_URL" --command="DROP DATABASE restored WITH (FORCE)"`, variables);
    });
    await moveTo(RESTORED_URL);
    expect(await brokenSums()).toEqual([]);
    const restored = await startServer();
    onTestFinished(() => restored.stop());
    expect(await read(restored.url, still)).toEqual(before[0]);
    const again = await read(restored.url, payments);
    const found = again.filter(({ status }) => status === 200);
    expect(found.length).toBeGreaterThanOrEqual(acknowledged);
    expect(found.length).toBeLessThan(again.length);
    expect(before[1]).toEqual(expect.arrayContaining(found));
    expect(again.filter(({ status }) => status !== 200 && status !== 404)).toEqual([]);
    for (const scene of [quiet, busy]) await expectVerified(restored.url, scene);
  });
});

describe("a point in time", () => {
  test("a base backup and the archived log bring the database back as it was then", async () => {
    const server = await newPostgres(folder);
    let running = server;
    onTestFinished(() => running.stop());
    const DATABASE_URL = server.url;
    await migrate({ url: DATABASE_URL, environment: "sandbox" });
    const place = (name: string) => join(folder, name);
    const variables = { DATABASE_URL, PGDATA: server.data, WAL: place("wal"), BASE: place("base"), RESTORED: place("restored") };
    await mkdir(variables.WAL);
    await chmod(variables.WAL, 0o777);
    const [archive, base = "", restore = ""] = await codeOf(PAGE, "A point in time");
    await runCode(archive, variables, "postgres");
    await moveTo(DATABASE_URL);
    const scene = await newScene();
    const kept = readsOf(scene, [await paid(scene)]);
    await runCode(base, variables, "postgres");
    kept.push(...paymentsOf(scene, [await paid(scene), (await authorized(scene)).authorizationId]));
    const old = await startServer();
    const before = await read(old.url, kept);
    await old.stop();

    const sql = postgres(DATABASE_URL, { max: 1, onnotice: () => {} });
    const [time] = await sql<{ until: string }[]>`SELECT clock_timestamp()::text AS until`;
    const { authorizationId: later } = await authorized(scene);
    const [log] = await sql<{ file: string }[]>`SELECT pg_walfile_name(pg_switch_wal()) AS file`;
    const archived = () => sql`SELECT last_archived_wal FROM pg_stat_archiver WHERE last_archived_wal >= ${log!.file}`;
    await expect.poll(archived).toHaveLength(1);
    await sql.end();
    await moveTo(database().url);
    await server.stop();

    await runCode(restore, { ...variables, UNTIL: time!.until }, "postgres");
    running = await startIn(variables.RESTORED);
    await moveTo(running.url);
    await expect.poll(() => isRecovering(running.url)).toBe(false);
    const restored = await startServer();
    onTestFinished(() => restored.stop());
    expect(await read(restored.url, kept)).toEqual(before);
    expect((await read(restored.url, paymentsOf(scene, [later])))[0]).toMatchObject({ status: 404 });
    expect(await brokenSums()).toEqual([]);
    await expectVerified(restored.url, scene);
  });
});

describe("an older backup beside a newer AUDIT_HEADS_FILE", () => {
  test("raises the alarm until the command of the page accepts it", async () => {
    const heads = join(folder, "heads");
    const own = await createDatabase();
    const [restored, DUMP] = [await createDatabase({ empty: true }), join(folder, "older.dump")];
    const start = async (url: string): Promise<void> => {
      await moveTo(url);
      process.env["AUDIT_HEADS_FILE"] = heads;
      forget("env", "audit/heads/signed-heads");
    };
    onTestFinished(async () => {
      delete process.env["AUDIT_HEADS_FILE"];
      await moveTo(database().url);
      await Promise.all([own.drop(), restored.drop()]);
    });
    const sign = () => signCheckpoints({ afterSeconds: 0, afterEvents: 1 });
    await start(own.url);
    const { person } = await createBuyer();
    await draftMandate(person.credential);
    await sign();
    const [dump, restore = ""] = await codeOf(PAGE, "A dump");
    await runCode(dump, { DATABASE_URL: own.url, DUMP });
    await draftMandate(person.credential);
    await sign();

    await runCode(restore.replace(/^psql.*\n/, ""), { RESTORED_URL: restored.url, DUMP });
    await start(restored.url);
    await draftMandate(person.credential);
    await sign();
    expect(await countAlarms()).toBe(1);
    await start(restored.url);
    const [command] = await codeOf(PAGE, "Before the restored database serves");
    const inClone = command.replace(/countersign-server (\S+)/, `cd "$CLONE" && "$NODE" scripts/commands/$1.ts`);
    const variables = { CLONE: process.cwd(), NODE: process.execPath, DATABASE_URL: restored.url, AUDIT_HEADS_FILE: heads };
    await runCode(inClone, variables);
    await start(restored.url);
    await draftMandate(person.credential);
    await sign();
    expect(await countAlarms()).toBe(0);
    expect(await readdir(folder)).toContainEqual(expect.stringMatching(/^heads\.until-/));
  });
});
