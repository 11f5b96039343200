import { beforeAll, describe, expect, test } from "vitest";
import { env } from "#lib/env.ts";
import type { Operation } from "#lib/http/operation.ts";
import { operations } from "#lib/operations.ts";
import { dispatch } from "#lib/routes.ts";
import { PlatformRole, type PlatformCapability } from "#lib/vocabulary.ts";
import { useDatabase } from "#test/database.ts";
import { createOfficial, type Official } from "#test/platform.ts";

/* Every operation of the platform's administration by every platform role (security.md, T2 and T34). */

useDatabase();

const capabilityOf = ({ access }: Operation): PlatformCapability | null =>
  typeof access === "object" && "platformCapability" in access ? access.platformCapability : null;

/** Written out once more, apart from the code that grants them. */
const granted: Readonly<Record<PlatformRole, readonly string[]>> = {
  user: [],
  support: ["listUsers", "revokeUserSessions"],
  auditor: ["listUsers", "listPlatformAuditEvents", "verifyPlatformAudit"],
  operator: ["listUsers", "banUser", "unbanUser", "revokeUserSessions", "emergencyRevoke", "verifySeller", "recheckExecution"],
  admin: operations.filter((one) => capabilityOf(one) !== null).map(({ id }) => id),
};

const platformOperations = operations.filter((one) => capabilityOf(one) !== null);

async function call({ method, path, example }: Operation, { credential }: Official): Promise<number> {
  const writes = method !== "GET";
  const url = env().BASE_URL + path.replace(/\{\w+\}/g, "nobody_has_this");
  const headers = { ...credential, ...(writes && { "content-type": "application/json" }) };
  const response = await dispatch(
    new Request(url, { method, headers, ...(writes && { body: JSON.stringify(example.body ?? {}) }) }),
  );
  return response.status;
}

describe.each(PlatformRole.options)("a platform %s", (role) => {
  let official: Official;
  beforeAll(async () => {
    official = await createOfficial(role);
  });
  test.each(platformOperations.map((one) => [one.id, one] as const))("%s as the role says", async (id, operation) => {
    const status = await call(operation, official);
    if (granted[role].includes(id)) expect([200, 404]).toContain(status);
    else expect(status).toBe(403);
  });
});
