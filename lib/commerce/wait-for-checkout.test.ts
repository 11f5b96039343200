import { afterEach, describe, expect, test } from "vitest";
import { endWaits, inWaitingPlace } from "#lib/commerce/wait-for-checkout.ts";
import { pool } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";

useDatabase();

afterEach(() => {
  endWaits();
  forget("commerce/wait-for-checkout");
});

const never = new Promise<void>(() => {});

/** Returns how many of these requests get a place in which they wait. */
async function admitted(organizations: readonly string[]): Promise<number> {
  let [entered, refused] = [0, 0];
  for (const organizationId of organizations) {
    inWaitingPlace(organizationId, () => ((entered += 1), never)).catch(() => (refused += 1));
  }
  await expect.poll(() => entered + refused, { timeout: 60_000 }).toBe(organizations.length);
  return entered;
}

const times = (count: number, of: (at: number) => string) => Array.from({ length: count }, (_, at) => of(at));

/** Organizations of one owner. An organization without members counts as its own owner. */
async function ownedBy(userId: string, ids: readonly string[]): Promise<void> {
  await pool()`INSERT INTO "user" (id, name, email) VALUES (${userId}, 'Many', ${`${userId}@example.com`})`;
  await pool()`INSERT INTO organization (id, name, slug, environment, product_roles)
    SELECT id, id, id, 'sandbox', '{}' FROM unnest(${[...ids]}::text[]) id`;
  await pool()`INSERT INTO member (id, organization_id, user_id, role)
    SELECT id, id, ${userId}, 'owner' FROM unnest(${[...ids]}::text[]) id`;
}

describe("requests that wait for a buyer's decision", () => {
  test("share one limit for one person's ten organizations, and another person can still wait", async () => {
    await ownedBy(
      "usr_many",
      times(10, (at) => `org_${at}`),
    );
    expect(await admitted(times(2_000, (at) => `org_${at % 10}`))).toBe(300);
    expect(await admitted(times(250, () => "org_other"))).toBe(200);
  });

  test("of many people leave a quarter of the places to people who have no waiting request", async () => {
    expect(await admitted(times(3_000, (at) => `org_of_many_${at % 20}`))).toBe(1_500);
    expect(await admitted(times(600, (at) => `org_new_${at}`))).toBe(500);
  });

  test("of one person read with at most a quarter of the connections, so that others find a free one", async () => {
    const release = Promise.withResolvers<void>();
    let [reading, most] = [0, 0];
    const read = async () => {
      most = Math.max(most, (reading += 1));
      await release.promise;
      reading -= 1;
    };
    const all = times(100, () => "org_reader").map((id) => inWaitingPlace(id, (inTurn) => inTurn(read)));
    const quarter = env().DATABASE_POOL / 4;
    await expect.poll(() => reading, { timeout: 60_000 }).toBe(quarter);
    release.resolve();
    await Promise.all(all);
    expect(most).toBe(quarter);
  });
});
