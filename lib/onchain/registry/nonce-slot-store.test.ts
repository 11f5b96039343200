import fc from "fast-check";
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { database } from "#lib/db/client.ts";
import { newId } from "#lib/ids.ts";
import { atomicOf } from "#lib/money.ts";
import {
  freeNonceSlot,
  holderOfNonce,
  nonceSlotOf,
  takeNonceSlot,
  useNonceSlot,
} from "#lib/onchain/registry/nonce-slot-store.ts";
import type { RegistrationRow } from "#lib/onchain/registry/registration-store.ts";
import { mandateRegistrations, registrationSlots } from "#lib/onchain/tables.ts";
import { useDatabase } from "#test/database.ts";
import { randomBytes32 } from "#test/smart-account.ts";
import { randomAddress } from "#test/sellers.ts";

useDatabase();

const PER_PAYMENT = 100n;
const MAX = 3;
const PERIOD_LIMIT = 320n;

async function newRegistration(): Promise<RegistrationRow> {
  const registrationId = newId("registration");
  const address = randomAddress();
  const addresses = { registry: address, account: address, payee: address, token: address };
  const [row] = await database()
    .insert(mandateRegistrations)
    .values({
      ...addresses,
      registrationId,
      organizationId: newId("organization"),
      environment: "sandbox",
      mandateId: newId("mandate"),
      version: 1,
      chain: "eip155:84532",
      onChainId: randomBytes32(),
      perPaymentLimit: atomicOf(PER_PAYMENT),
      periodLimit: atomicOf(PERIOD_LIMIT),
      periodSeconds: 3_600,
      start: 0,
      end: 2_000_000_000,
      maxPaymentsPerPeriod: MAX,
      enforcementPath: 1,
      termsHash: randomBytes32(),
      nonce: atomicOf(1n),
      deadline: 1,
      fingerprint: registrationId,
      status: "registered",
      relayId: registrationId,
      confirmedAt: new Date(),
    })
    .returning();
  return row!;
}

const command = fc.record({
  payment: fc.integer({ min: 0, max: 5 }),
  act: fc.constantFrom("take" as const, "free" as const, "use" as const),
  period: fc.integer({ min: 0, max: 1 }),
  amount: fc.bigInt({ min: 1n, max: PER_PAYMENT }),
});

test("in any order of taking, freeing and using, the nonce slots of a period have different nonces and never exceed its limit", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { maxLength: 16 }), async (commands) => {
      const registration = await newRegistration();
      const { registrationId } = registration;
      const ids = Array.from({ length: 6 }, () => newId("authorization"));
      for (const { payment, act, period, amount } of commands) {
        const authorizationId = ids[payment]!;
        await database().transaction(async (tx) => {
          const held = await nonceSlotOf(tx, authorizationId);
          // While an authorization holds a slot, it asks for a slot with the same amount, because the amount of a payment never
          // changes.
          const taking = { registration, authorizationId, amount: held?.amount ?? amount, period, validBefore: new Date() };
          if (act === "take") await takeNonceSlot(tx, taking);
          else if (held) await (act === "free" ? freeNonceSlot : useNonceSlot)(tx, held.slotId);
        });
        const all = await database().select().from(registrationSlots).where(eq(registrationSlots.registrationId, registrationId));
        for (const own of Map.groupBy(
          all.filter(({ status }) => status !== "free"),
          (slot) => slot.period,
        ).values()) {
          expect(new Set(own.map(({ nonce }) => nonce)).size).toBe(own.length);
          expect(own.every(({ slot }) => slot < MAX)).toBe(true);
          expect(own.reduce((sum, slot) => sum + slot.amount, 0n)).toBeLessThanOrEqual(PERIOD_LIMIT);
          for (const slot of own) expect(await holderOfNonce(database(), registrationId, slot.nonce)).toBe(slot.authorizationId);
        }
      }
    }),
    { numRuns: 25 },
  );
});
