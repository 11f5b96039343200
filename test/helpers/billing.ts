import { eq } from "drizzle-orm";
import * as contract from "#lib/billing/contract.ts";
import { saveFeeSchedule } from "#lib/billing/save-fee-schedule.ts";
import { database } from "#lib/db/client.ts";
import { user } from "#lib/identity/tables.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

/** A platform admin in their own organization. */
export async function platformAdmin() {
  const organizationId = await createOrganization("Platform");
  const { userId, credential } = await createPerson(organizationId);
  await database()
    .update(user)
    .set({ platformRoles: ["user", "admin"] })
    .where(eq(user.id, userId));
  return { organizationId, userId, credential };
}

export async function newSchedule(as: Credential, terms: Readonly<Record<string, unknown>>) {
  const { status, data, problem } = await send(contract.saveFeeSchedule, saveFeeSchedule, {
    as,
    body: { name: "Test", ...terms },
  });
  if (status !== 200) throw new Error(JSON.stringify(problem));
  return data;
}
