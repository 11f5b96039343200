import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { connectCards } from "#lib/cards/connect-cards.ts";
import * as contract from "#lib/cards/contract.ts";
import { cardConnections } from "#lib/cards/tables.ts";
import { database } from "#lib/db/client.ts";
import { useDatabase } from "#test/database.ts";
import { eventsOf } from "#test/mandates.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";
import { newStaleAdmin } from "#test/webhooks.ts";

useDatabase();

const body = { name: "Our account", webhookSecret: "whsec_0123456789abcdef0123456789abcdef" };

test("a connection needs a proof of identity, names the address for Stripe, and keeps its secret encrypted", async () => {
  const organizationId = await createOrganization();
  const [stale, fresh] = [await newStaleAdmin(organizationId), await createPerson(organizationId)];
  const connect = (as: Credential) => send(contract.connectCards, connectCards, { as, body });
  expect((await connect(stale.credential)).problem.code).toBe("step_up_required");
  const { status, data } = await connect(fresh.credential);
  expect([status, data.secrets, data.cards]).toEqual([201, 1, []]);
  expect(data.webhookUrl).toMatch(new RegExp(`/api/v1/rails/stripe/${data.connectionId}$`));
  const [row] = await database().select().from(cardConnections).where(eq(cardConnections.connectionId, data.connectionId));
  expect(JSON.stringify([row, data, await eventsOf(data.connectionId)])).not.toContain(body.webhookSecret.slice(6));
});

test("an organization has at most ten connections", async () => {
  const { credential: as } = await createPerson(await createOrganization());
  const connect = () => send(contract.connectCards, connectCards, { as, body });
  for (let made = 0; made < 10; made += 1) expect((await connect()).status).toBe(201);
  expect((await connect()).problem.code).toBe("conflict");
});

test.each(["", "sk_live_0123456789abcdef", "whsec_", "whsec_with spaces in it 0123"])(
  "%j is no signing secret",
  async (secret) => {
    const { credential: as } = await createPerson(await createOrganization());
    const { status, problem } = await send(contract.connectCards, connectCards, { as, body: { ...body, webhookSecret: secret } });
    expect([status, problem.errors?.[0]?.pointer]).toEqual([400, "/webhookSecret"]);
  },
);
