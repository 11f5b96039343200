import { afterEach, describe, expect, test } from "vitest";
import { refusePooler } from "#lib/db/refuse-pooler.ts";
import { useDatabase } from "#test/database.ts";
import { FakePostgres, type Script } from "#test/fake-postgres.ts";

const database = useDatabase();
let fake: FakePostgres | undefined;
afterEach(async () => fake?.stop());

const refusalOf = async (...scripts: Script[]): Promise<unknown> => {
  fake = await FakePostgres.start(scripts);
  return refusePooler(fake.url).catch((error: Error) => error.message);
};

describe("refusePooler", () => {
  test("accepts PostgreSQL itself", () => expect(refusePooler(database().url)).resolves.toBeUndefined());

  test("refuses a pooler that refuses start-up parameters, and says what to set", async () =>
    expect(await refusalOf({ at: 0, how: "refuse a parameter" })).toMatch(
      /pooler that refuses .* Set DATABASE_URL to the address of PostgreSQL/,
    ));

  test("refuses a pooler that drops them", async () => expect(await refusalOf()).toMatch(/pooler that drops/));

  test("does not report another failure as a pooler", async () =>
    expect(await refusalOf({ at: 0, how: "starting" })).toBe("The connection could not be opened."));
});
