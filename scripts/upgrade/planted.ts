import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** SQL by the name of its file, without `.sql`. */
export type Migrations = Readonly<Record<string, string>>;

/** What a release may do while the release before still serves. */
export const expansions: Migrations = {
  "9001_nullable_column": `ALTER TABLE "mandates" ADD COLUMN "planted_note" text;`,
  // The default is stored in the catalogue, so no row is written, and rows of the release before get it.
  "9002_not_null_first": `ALTER TABLE "authorizations" ADD COLUMN "planted_kind" text DEFAULT 'plain';`,
  "9003_index": `CREATE INDEX "authorizations_planted" ON "authorizations" USING btree ("mandate_id","created_at");`,
  "9004_index_alone": `-- alone
CREATE INDEX CONCURRENTLY IF NOT EXISTS "authorizations_planted_alone" ON "authorizations" USING btree ("mandate_id","expires_at");`,
};

/** What only the release after it may do. `serves` is the version of the release that expanded. */
export const notNullSecond = (serves: string): Migrations => ({
  "9005_not_null_second": `-- serves: ${serves}
ALTER TABLE "authorizations" ALTER COLUMN "planted_kind" SET NOT NULL;`,
});

/** Every release so far reads the name of a mandate. */
export const forbidden = `ALTER TABLE "mandates" DROP COLUMN "name";`;

export const SENTENCES = "lib/mandates/policy/sentences-limits.ts";
/** The sentence of a payment above the limit per payment, and its number in the planted release. */
const SENTENCE = { name: "abovePerPayment", id: 63, planted: 9_000 };

/** A word that only the answers with the planted sentence have. */
export const PLANTED_CODE = "per_payment_limit_exceeded";

export const nextVersion = (version: string): string => {
  const [major, minor] = version.split(".").map(Number);
  return `${major}.${(minor ?? 0) + 1}.0`;
};

export const versionIn = async (folder: string): Promise<string> =>
  (JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { version: string }).version;

/** The texts of the migrations in a folder by their file names. */
export async function migrationsIn(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql"));
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")])));
}

/** Adds migrations to a folder, in this order, after those that are there. */
export async function plantMigrations(folder: string, migrations: Migrations): Promise<void> {
  const file = join(folder, "meta/_journal.json");
  const journal = JSON.parse(await readFile(file, "utf8")) as { entries: { idx: number; when: number; tag: string }[] };
  for (const [tag, text] of Object.entries(migrations)) {
    const last = journal.entries.at(-1)!;
    journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1, tag });
    await writeFile(join(folder, `${tag}.sql`), text);
  }
  await writeFile(file, JSON.stringify(journal));
}

/** Makes the source in a folder that of the next release, which stores a sentence that the release before does not know. */
export async function plantRelease(folder: string, migrations: Migrations): Promise<void> {
  const [manifest, sentences] = [join(folder, "package.json"), join(folder, SENTENCES)];
  const version = await versionIn(folder);
  const text = await readFile(manifest, "utf8");
  await writeFile(manifest, text.replace(`"version": "${version}"`, `"version": "${nextVersion(version)}"`));
  await plantMigrations(join(folder, "drizzle"), migrations);
  const { name, id, planted } = SENTENCE;
  const [said, begins] = [await readFile(sentences, "utf8"), `const ${name} = sentence(`];
  if (!said.includes(`${begins}${id},`)) throw new Error(`${SENTENCES} has no sentence ${id} with the name ${name}.`);
  const changed = said.replace(`${begins}${id},`, `${begins}${planted},`);
  await writeFile(sentences, `${changed}export const ${name}Before = { ...${name}, id: ${id} };\n`);
}
