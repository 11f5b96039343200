import { beforeAll, describe, expect, test } from "vitest";
import { checkLiveness } from "#lib/health/check-liveness.ts";
import * as contract from "#lib/health/contract.ts";
import { noteStopping } from "#lib/health/lifecycle.ts";
import { forget } from "#lib/process.ts";
import { send } from "#test/tenant.ts";

const live = () => send(contract.checkLiveness, checkLiveness);

describe("checkLiveness", () => {
  beforeAll(() => {
    process.env["DATABASE_URL"] = "postgres://nobody@127.0.0.1:1/none";
    forget("env");
  });

  test("200 without a database, with the time of the process", async () => {
    const { status, data } = await live();
    expect([status, data.status]).toEqual([200, "alive"]);
    expect(Math.abs(Date.parse(data.timestamp) - Date.now())).toBeLessThan(5_000);
    expect(Math.abs(process.uptime() * 1_000 - data.uptimeMs)).toBeLessThan(5_000);
  });

  test("200 while the process is stopping", async () => {
    noteStopping();
    expect((await live()).status).toBe(200);
  });
});
