import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { GATE } from "#lib/command/gate-store.ts";
import { database } from "#lib/db/client.ts";
import { executions } from "#lib/holds/tables.ts";
import * as contract from "#lib/settlement/contract.ts";
import { recheckExecution } from "#lib/settlement/recheck-execution.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { unknownExecution } from "#test/executions.ts";
import { hold } from "#test/holding.ts";
import { createOfficial, REASON, type Official } from "#test/platform.ts";
import { send } from "#test/tenant.ts";

const databaseOf = useDatabase();

const recheck = ({ credential }: Official, executionId: string, reason = REASON, key?: string) =>
  send(contract.recheckExecution, recheckExecution, {
    as: credential,
    id: executionId,
    body: { reason },
    ...(key !== undefined && { key }),
  });
const rowOf = async (executionId: string) =>
  (await database().select().from(executions).where(eq(executions.executionId, executionId)))[0]!;

describe("recheckExecution", () => {
  test("200 makes the next check of an unknown outcome due at once, changes nothing else, and records the reason", async () => {
    const operator = await createOfficial("operator");
    const { executionId } = await unknownExecution();
    const before = await rowOf(executionId);
    expect((await recheck(operator, executionId)).data).toEqual({ executionId, status: "accepted" });
    const after = await rowOf(executionId);
    expect(after.nextCheckAt!.getTime()).toBeLessThanOrEqual(Date.now() + 1_000);
    expect({ ...after, nextCheckAt: null }).toEqual({ ...before, nextCheckAt: null });
    expect((await eventsAbout(executionId)).at(-1)).toMatchObject({
      type: "payment.recheckRequested",
      actorId: operator.userId,
      metadata: { reason: REASON },
    });
  });

  test("409 once the outcome is final, and no event", async () => {
    const operator = await createOfficial("operator");
    for (const settlementStatus of ["failed", "settled"]) {
      const { executionId } = await unknownExecution({ settlementStatus, resolvedAt: new Date() });
      expect((await recheck(operator, executionId)).problem.code).toBe("conflict");
      expect(await eventsAbout(executionId)).toEqual([]);
    }
  });

  test("403 if a revocation that has begun takes the role away, and nothing is changed", async () => {
    const operator = await createOfficial("operator");
    const { executionId } = await unknownExecution();
    const revoking = await hold(databaseOf().url, `SELECT pg_advisory_xact_lock(${GATE}::bigint)`);
    const asked = recheck(operator, executionId);
    await revoking.blocks();
    await revoking.sql`UPDATE "user" SET platform_roles = '{user}' WHERE id = ${operator.userId}`;
    await revoking.sql.unsafe("COMMIT");
    expect((await asked).problem.code).toBe("forbidden");
    expect(await eventsAbout(executionId)).toEqual([]);
  });

  test("400 without a reason, 404 for an unknown execution", async () => {
    const operator = await createOfficial("operator");
    const { executionId } = await unknownExecution();
    expect((await recheck(operator, executionId, " ")).problem.errors?.[0]?.pointer).toBe("/reason");
    expect((await recheck(operator, "exe_none")).status).toBe(404);
  });

  test("a repeat with the same idempotency key gets the same reply and is recorded once", async () => {
    const operator = await createOfficial("operator");
    const { executionId } = await unknownExecution();
    await recheck(operator, executionId, REASON, "once");
    const again = await recheck(operator, executionId, REASON, "once");
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(await eventsAbout(executionId)).toHaveLength(1);
  });
});
