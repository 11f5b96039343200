import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { session } from "#lib/identity/tables.ts";
import { useDatabase } from "#test/database.ts";
import { seedPayments } from "#test/many-payments.ts";
import { createOrganization, createPerson } from "#test/tenant.ts";
import { GET } from "./route.tsx";

useDatabase();

test("a download fails if the session ends before its last page, and later downloads are refused", async () => {
  const organizationId = await createOrganization();
  await seedPayments(organizationId, 1_200);
  const { userId, credential } = await createPerson(organizationId);
  const request = () => GET(new Request(`${env().BASE_URL}/payments/export.csv`, { headers: credential }));
  const reply = await request();
  expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
  const body = reply.body!.getReader();
  expect((await body.read()).done).toBe(false);
  await database().delete(session).where(eq(session.userId, userId));
  const rest = async () => {
    while (!(await body.read()).done);
  };
  await expect(rest()).rejects.toMatchObject({ code: "unauthenticated" });
  expect((await request()).status).toBe(401);
});
