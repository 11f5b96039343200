import { sql } from "drizzle-orm";
import { database } from "#lib/db/client.ts";

/** Locks a mandate as another transaction would. Returns how to end it. */
export async function lockingMandate(mandateId: string) {
  const released = Promise.withResolvers<void>();
  const locked = Promise.withResolvers<void>();
  const blocking = database().transaction(async (tx) => {
    await tx.execute(sql`SELECT FROM mandates WHERE mandate_id = ${mandateId} FOR UPDATE`);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  return async () => {
    released.resolve();
    await blocking;
  };
}
