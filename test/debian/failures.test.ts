import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { countAlarms } from "#lib/audit/checkpoint-store.ts";
import { signCheckpoints } from "#lib/audit/sign-checkpoints.ts";
import { migrate } from "#lib/db/migrate.ts";
import { forget } from "#lib/process.ts";
import { newIntent } from "#test/asking.ts";
import { useDatabase } from "#test/database.ts";
import { newPostgres } from "#test/debian-postgres.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, assets, createBuyer } from "#test/mandates.ts";
import { moveTo } from "#test/proxy.ts";
import { startServer } from "#test/server.ts";

/* What docs/operate/failures.md says about disks. */

const run = promisify(execFile);
const database = useDatabase();

describe("a full disk", () => {
  let disk = "";
  beforeAll(async () => {
    disk = await mkdtemp(join(tmpdir(), "countersign-disk-"));
    await run("mount", ["-t", "tmpfs", "-o", "size=192m,mode=755", "tmpfs", disk]);
    return async () => {
      await run("umount", ["--lazy", disk]);
      await rm(disk, { recursive: true });
    };
  });

  test("of PostgreSQL: payments are refused with 503, and work again when there is room, without a restart of the service", async () => {
    const postgres = await newPostgres(disk);
    onTestFinished(() => postgres.stop());
    await migrate({ url: postgres.url, environment: "sandbox" });
    await moveTo(postgres.url);
    const buyer = await createBuyer();
    const policy = { assets, limits: { perPayment: "1", total: "1000000" } };
    const mandateId = await activeMandate(buyer.person.credential, { policy });
    const server = await startServer();
    onTestFinished(() => server.stop());
    const send = async (intent: object) => {
      const headers = { ...buyer.agent.credential, "content-type": "application/json" };
      const body = JSON.stringify({ mandateId, intent });
      const reply = await fetch(`${server.url}/api/v1/payments/authorize`, { method: "POST", headers, body });
      return { intent, status: reply.status, text: await reply.text() };
    };
    const acknowledged: Awaited<ReturnType<typeof send>>[] = [];
    const authorize = async (): Promise<number> => {
      const answer = await send(newIntent(buyer));
      if (answer.status === 200) acknowledged.push(answer);
      return answer.status;
    };
    const unready = async (): Promise<string | null> => {
      const reply = await fetch(`${server.url}/api/v1/health/ready`);
      return reply.status === 200 ? null : ((await reply.json()) as { detail: string }).detail;
    };
    const patiently = { timeout: 30_000, interval: 250 };
    expect(await authorize()).toBe(200);
    expect(await unready()).toBe(null);
    await run("dd", ["if=/dev/zero", `of=${disk}/filler`, "bs=1M"]).catch(() => {});
    const many = () => Promise.all(Array.from({ length: 64 }, authorize));
    // No payment has failed yet.
    await expect.poll(unready, patiently).toContain("commits. Nothing can be saved, because the disk of the database is full.");
    await expect.poll(async () => new Set(await many()), { interval: 0 }).toEqual(new Set([503]));
    expect((await fetch(`${server.url}/api/v1/health/live`)).status).toBe(200);
    expect(await unready()).toContain("the disk of the database is full");
    await rm(`${disk}/filler`);
    await expect.poll(unready, patiently).toBe(null);
    await expect.poll(authorize).toBe(200);
    for (const answer of acknowledged) expect(await send(answer.intent)).toEqual(answer);
    expect(await brokenSums()).toEqual([]);
  });

  test("of AUDIT_HEADS_FILE: nothing is signed, and no alarm is raised", async () => {
    await moveTo(database().url);
    process.env["AUDIT_HEADS_FILE"] = "/dev/full";
    forget("env");
    onTestFinished(() => void delete process.env["AUDIT_HEADS_FILE"]);
    const buyer = await createBuyer();
    await activeMandate(buyer.person.credential);
    await expect(signCheckpoints({ afterSeconds: 0, afterEvents: 1 })).rejects.toThrow(/ENOSPC/);
    expect(await countAlarms()).toBe(0);
  });
});
