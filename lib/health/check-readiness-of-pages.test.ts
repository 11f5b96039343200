import { beforeEach, describe, expect, test } from "vitest";
import { checkReadinessOfPages } from "#lib/health/check-readiness-of-pages.ts";
import * as contract from "#lib/health/contract.ts";
import { noteStopping, watchPages } from "#lib/health/lifecycle.ts";
import { forget } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";
import { captureLog } from "#test/logged.ts";
import { useSettlement } from "#test/payments.ts";
import { send } from "#test/tenant.ts";

useDatabase();
useSettlement();

const logged = captureLog();

const pages = () => send(contract.checkReadinessOfPages, checkReadinessOfPages);

describe("checkReadinessOfPages", () => {
  beforeEach(() => forget("health/probes", "health/lifecycle"));

  test("200 while the pages process answers, 503 while it is starting again", async () => {
    let up = true;
    watchPages(() => up);
    expect(await pages()).toMatchObject({ status: 200, data: { status: "ready" } });
    up = false;
    forget("health/probes");
    const { status, problem, headers } = await pages();
    expect([status, problem.detail, headers.get("retry-after")]).toEqual([503, "The service is not ready: pages.", "2"]);
  });

  test("503 for a process that serves no pages, and for one that is stopping", async () => {
    expect((await pages()).problem.detail).toBe("This process serves no pages. Send people to another one.");
    watchPages(() => true);
    noteStopping();
    const { problem } = await pages();
    forget("health/lifecycle");
    expect(problem.detail).toBe("This process is stopping. Send requests to another one.");
    expect(logged).toEqual([]);
  });
});
