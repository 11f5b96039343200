import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import releases from "../releases.json" with { type: "json" };
import { brokenPromises, hashOf, removals, type Release } from "./promise.ts";

const folder = join(import.meta.dirname, "../drizzle");
const names = (await readdir(folder)).filter((name) => name.endsWith(".sql"));
const ours = Object.fromEntries(
  await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const)),
);

const first = `CREATE TABLE "things" ("id" text PRIMARY KEY NOT NULL, "name" text);`;
const released: Release = { version: "0.2.0", migrations: { "0000_first.sql": hashOf(first) } };
const broken = (files: Readonly<Record<string, string>>) => brokenPromises({ "0000_first.sql": first, ...files }, [released]);

test("the migrations keep what the releases promise", () => {
  expect(brokenPromises(ours, releases)).toEqual([]);
});

test("a released migration that has changed or is gone breaks the promise", () => {
  expect(broken({ "0000_first.sql": `${first} ` })).toEqual(["0000_first.sql was released with 0.2.0 and has changed."]);
  expect(brokenPromises({}, [released])).toEqual(["0000_first.sql was released with 0.2.0 and is gone."]);
});

test.each([
  `ALTER TABLE "things" DROP COLUMN "id";`,
  `ALTER TABLE "public"."things" ALTER COLUMN "id" SET DATA TYPE integer;`,
  `ALTER TABLE "things"\n  ALTER COLUMN "id" SET NOT NULL;`,
  `ALTER TABLE "things" ALTER COLUMN "id" TYPE integer;`,
  `ALTER TABLE "things" RENAME COLUMN "id" TO "key";`,
  `ALTER TABLE "things" ADD COLUMN "more" text NOT NULL;`,
  `ALTER TABLE "things" ADD CONSTRAINT "some" CHECK (id <> '');`,
  `CREATE TABLE "others" ("id" text);--> statement-breakpoint\nDROP TABLE "things";`,
  `CREATE UNIQUE INDEX "one" ON "things" USING btree ("name");`,
  `CREATE UNIQUE INDEX "one" ON "things" USING btree ("id","name") WHERE name <> '';`,
  `ALTER TABLE "things" ADD COLUMN "a" text;--> statement-breakpoint
   ALTER TABLE "things" ADD CONSTRAINT "some" CHECK (num_nulls(a) = 1 OR a <> '');`,
  `ALTER TABLE "things" ADD COLUMN "a" text;--> statement-breakpoint
   ALTER TABLE "things" ADD CONSTRAINT "some" CHECK (num_nulls(a, name) = 2 OR a <> '') NOT VALID;`,
  `ALTER TABLE "things" ADD COLUMN "a" text;--> statement-breakpoint
   ALTER TABLE "things" ADD CONSTRAINT "some" CHECK (num_nulls(a) = 0 OR a <> '') NOT VALID;`,
  `DELETE FROM "things";`,
  `ALTER TABLE "things" DROP CONSTRAINT "some";`,
  `DROP INDEX "some";--> statement-breakpoint\nCREATE INDEX "other" ON "things" USING btree ("id");`,
  `ALTER TYPE "kind" RENAME VALUE 'a' TO 'b';`,
  `CREATE TABLE others (id text);\nALTER TABLE things DROP COLUMN id;`,
])("removes what the release before may read: %s", (text) => {
  expect(removals(text)).toHaveLength(1);
  expect(broken({ "0001_next.sql": text })).toEqual([expect.stringContaining("0001_next.sql removes what 0.2.0 may read")]);
  expect(broken({ "0001_next.sql": `-- serves: 0.3.0\n${text}` })).toHaveLength(1);
  expect(broken({ "0001_next.sql": `-- serves: 0.2.0 and newer\n${text}` })).toHaveLength(1);
  expect(broken({ "0001_next.sql": `-- serves: 0.2.0\n${text}` })).toEqual([]);
});

test.each([
  `ALTER TABLE "things" ADD COLUMN "type" text;`,
  `ALTER TABLE "things" ADD COLUMN "more" text DEFAULT 'a' NOT NULL;`,
  `CREATE TABLE "others" ("id" text);--> statement-breakpoint\nALTER TABLE "others" ADD CONSTRAINT "f" FOREIGN KEY ("id") REFERENCES "public"."things"("id");--> statement-breakpoint\nCREATE UNIQUE INDEX "one" ON "others" USING btree ("id");`,
  `CREATE INDEX "other" ON "things" USING btree ("id");`,
  `CREATE UNIQUE INDEX "one" ON "things" USING btree ("name","id");`,
  `ALTER TABLE "things" ADD COLUMN "a" text;--> statement-breakpoint
   ALTER TABLE "things" ADD CONSTRAINT "some" CHECK (num_nulls(a) = 1 OR a <> name) NOT VALID;`,
])("expands only: %s", (text) => {
  expect(broken({ "0001_next.sql": text })).toEqual([]);
});

test("a migration that is applied alone has only statements that can be repeated after a crash", () => {
  const index = `-- alone\nCREATE INDEX CONCURRENTLY IF NOT EXISTS "by_name" ON "public"."mandates" ("name");`;
  expect(broken({ "0001_next.sql": `${index}--> statement-breakpoint\nCREATE OR REPLACE VIEW names AS SELECT 1;` })).toEqual([]);
  for (const other of [
    `ALTER TABLE "mandates" ADD COLUMN "more" text;`,
    `CREATE INDEX CONCURRENTLY "other" ON "mandates" ("name");`,
  ])
    expect(broken({ "0001_next.sql": `${index}--> statement-breakpoint\n${other}` })).toEqual([
      `0001_next.sql is applied alone, and cannot be repeated after a crash: ${other.slice(0, 80)}`,
    ]);
});
