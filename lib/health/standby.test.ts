import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startEmbedded } from "#lib/db/embedded.ts";
import { migrate } from "#lib/db/migrate.ts";
import { checkReadinessOfService } from "#lib/health/check-readiness-of-service.ts";
import * as contract from "#lib/health/contract.ts";
import { useSettlement } from "#test/payments.ts";
import { moveTo } from "#test/proxy.ts";
import { send } from "#test/tenant.ts";
import { PostgresNode, programsOf } from "../../scripts/drill/node.ts";

useSettlement();

test("503 says that the server has come back as a standby, and 200 follows when it is a primary again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-standby-"));
  const server = await startEmbedded({ dataDir: folder });
  await migrate({ url: server.url, environment: "sandbox" });
  await server.stop();
  const data = join(server.directory, "data");
  const node = await PostgresNode.make("one", data, await programsOf(server.directory));
  onTestFinished(async () => {
    await moveTo("");
    await node.close();
    for (const made of [server.directory, folder]) await rm(made, { recursive: true, force: true });
  });
  const unready = async () => (await send(contract.checkReadinessOfService, checkReadinessOfService)).problem?.detail;
  const patiently = { timeout: 30_000, interval: 250 };

  await node.start({ names: [] });
  await moveTo(node.directUrl);
  expect(await unready()).toBe(undefined);
  await node.kill();
  await writeFile(join(data, "standby.signal"), "");
  await node.start({ names: [] });
  await expect
    .poll(unready, patiently)
    .toBe(
      "The service is not ready: database, authorizations, emergencies, commits, migrations. " +
        "Nothing can be saved, because DATABASE_URL leads to a standby.",
    );
  const { host } = new URL(node.directUrl);
  await moveTo(node.directUrl.replace(host, `${host},${host}`));
  await expect.poll(unready, patiently).toMatch(/because no host of DATABASE_URL is a primary\. Promote a standby\.$/);
  await moveTo(node.directUrl);
  await node.kill();
  await rm(join(data, "standby.signal"));
  await node.start({ names: [] });
  await expect.poll(unready, patiently).toBe(undefined);
});
