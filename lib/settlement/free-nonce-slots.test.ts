import { eq, sql } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { registrationSlots } from "#lib/onchain/tables.ts";
import { freeNonceSlots } from "#lib/settlement/free-nonce-slots.ts";
import { useDatabase } from "#test/database.ts";
import { authorized, execute, useSettlement } from "#test/payments.ts";
import { registeredScene, useContracts } from "#test/registered.ts";

useDatabase();
const chain = useSettlement();
const contracts = useContracts(chain);

test("a nonce slot is freed although the chain of more older slots than one check reads does not answer", async () => {
  const scene = await registeredScene(chain(), contracts(), { balance: 0n });
  const { authorizationId } = await authorized(scene);
  await execute(scene, { authorizationId });
  const isOurs = eq(registrationSlots.authorizationId, authorizationId);
  await database()
    .update(registrationSlots)
    .set({ validBefore: new Date(Date.now() - 60_000) })
    .where(isOurs);
  const silent = {
    registration_id: "reg_silent",
    relay_id: "reg_silent",
    mandate_id: "mnd_silent",
    account: "0x00",
    chain: "eip155:1",
  };
  await database().execute(sql`INSERT INTO mandate_registrations
    SELECT (jsonb_populate_record(r, ${JSON.stringify(silent)}::jsonb)).*
    FROM mandate_registrations r WHERE registration_id = ${scene.registrationId}`);
  const older = { registration_id: "reg_silent", valid_before: new Date(0).toISOString() };
  await database().execute(sql`INSERT INTO registration_slots
    SELECT (jsonb_populate_record(s, ${JSON.stringify(older)}::jsonb
      || jsonb_build_object('slot_id', 'slt_' || n, 'authorization_id', 'auth_' || n, 'slot', n, 'nonce', '0x' || n))).*
    FROM registration_slots s, generate_series(1, 64) n WHERE s.authorization_id = ${authorizationId}`);
  expect((await freeNonceSlots()) + (await freeNonceSlots())).toBe(1);
  expect(await database().select().from(registrationSlots).where(isOurs)).toMatchObject([{ status: "free" }]);
});
