import { afterEach, describe, expect, test } from "vitest";
import { refuseOldVersion, refuseServer } from "#lib/db/refuse-server.ts";
import { useDatabase } from "#test/database.ts";
import { FakePostgres, type Script } from "#test/fake-postgres.ts";

const database = useDatabase();
let fake: FakePostgres | undefined;
afterEach(async () => fake?.stop());

const refusalOf = async (...scripts: Script[]): Promise<unknown> => {
  fake = await FakePostgres.start(scripts);
  return refuseServer(fake.url).catch((error: Error) => error.message);
};

describe("refuseServer", () => {
  test("accepts PostgreSQL itself", () => expect(refuseServer(database().url)).resolves.toBeUndefined());

  test("refuses a pooler that refuses start-up parameters, and says what to set", async () =>
    expect(await refusalOf({ at: 0, how: "refuse a parameter" })).toMatch(
      /pooler that refuses .* Set DATABASE_URL to the address of PostgreSQL/,
    ));

  test("refuses a pooler that drops them", async () => expect(await refusalOf()).toMatch(/pooler that drops/));

  test("refuses a version below 15, and names it", () => {
    expect(() => refuseOldVersion("14.11 (Debian 14.11-1)")).toThrow(
      "PostgreSQL 14.11 (Debian 14.11-1). Countersign needs PostgreSQL 15 or newer.",
    );
    for (const version of ["15.0", "18.4", "19beta1"]) expect(() => refuseOldVersion(version)).not.toThrow();
  });

  test("does not report another failure as a pooler", async () =>
    expect(await refusalOf({ at: 0, how: "starting" })).toBe("The connection could not be opened."));
});
