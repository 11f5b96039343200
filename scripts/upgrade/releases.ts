import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import releases from "../../releases.json" with { type: "json" };
import { checkOut } from "../check-out.ts";
import { brokenPromises, hashOf, type Release as Released } from "../promise.ts";
import { expansions, forbidden, migrationsIn, nextVersion, notNullSecond, plantRelease, versionIn } from "./planted.ts";

const run = promisify(execFile);

/** The source of a release in a folder, with its server built. */
export type Release = { readonly version: string; readonly folder: string };

/** Bundles the server with the build of the release itself. */
async function build(folder: string): Promise<Release> {
  const program = `import("#lib/server/build.ts").then(({ buildServer }) => buildServer(() => {}))`;
  await run(process.execPath, ["--input-type=module", "-e", program], { cwd: folder });
  return { version: await versionIn(folder), folder };
}

async function copy(commit: string, folder: string): Promise<string> {
  await mkdir(folder);
  return checkOut(commit, folder);
}

/** The commit of the last release, or HEAD while there is none. */
const lastCommit = (): string =>
  (releases as readonly Released[]).findLast(({ commit }) => commit !== undefined)?.commit ?? "HEAD";

/** The release before, and this commit as the next release with planted migrations. */
export async function makeReleases(
  folder: string,
  from = lastCommit(),
): Promise<{ readonly old: Release; readonly next: Release }> {
  const [before, after] = [await copy(from, join(folder, "old")), await copy("HEAD", join(folder, "next"))];
  await plantRelease(after, expansions);
  return { old: await build(before), next: await build(after) };
}

const hashesOf = (migrations: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(migrations).map(([file, text]) => [file, hashOf(text)]));

/** What the rule for migrations says of the planted ones, where it is wrong. */
export async function wrongJudgements({ old, next }: { readonly old: Release; readonly next: Release }): Promise<string[]> {
  const [before, expanded] = [await migrationsIn(join(old.folder, "drizzle")), await migrationsIn(join(next.folder, "drizzle"))];
  const first: Released = { version: old.version, migrations: hashesOf(before) };
  const both = [first, { version: next.version, migrations: hashesOf(expanded) }];
  const judged = (text: string) => brokenPromises({ ...expanded, "9999_judged.sql": text }, both);
  const later = nextVersion(next.version);
  const refused = [forbidden, `-- serves: ${later}\n${forbidden}`, ...Object.values(notNullSecond(later))];
  return [
    ...brokenPromises(expanded, [first]),
    ...Object.values(notNullSecond(next.version)).flatMap(judged),
    ...refused.filter((text) => judged(text).length === 0).map((text) => `This must be refused, and is not: ${text}`),
  ];
}
