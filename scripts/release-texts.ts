import { hashOf, type Release } from "./promise.ts";

const UNRELEASED = "## Unreleased\n";

/** The changelog in which the section "Unreleased" has become that of the version. */
export function closeChangelog(text: string, version: string, date: string): string {
  const [before, after = ""] = text.split(UNRELEASED, 2);
  if (after.split("\n## ")[0]!.trim() === "") throw new Error('CHANGELOG.md says nothing in its section "Unreleased".');
  return `${before}${UNRELEASED}\n## ${version} (${date})\n${after}`;
}

/** The text with the new version in each place of the old one. */
export function raiseVersion(file: string, text: string, from: string, to: string): string {
  const raised = text.replaceAll(new RegExp(`(?<![\\d.])${RegExp.escape(from)}(?![\\d]|\\.\\d)`, "g"), to);
  if (raised === text) throw new Error(`${file} does not name ${from}.`);
  return raised;
}

/** The list with a release whose commit is not known yet. Throws unless its version is newer than the last one. */
export function addRelease(
  releases: readonly Release[],
  version: string,
  migrations: Readonly<Record<string, string>>,
): readonly Release[] {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('Name the version, such as "npm run release -- 0.3.0".');
  const last = releases.at(-1);
  if (last && last.version.localeCompare(version, "en", { numeric: true }) >= 0)
    throw new Error(`${version} is not newer than ${last.version}.`);
  const hashes = Object.fromEntries(Object.entries(migrations).map(([file, text]) => [file, hashOf(text)]));
  return [...releases, { version, migrations: hashes }];
}

export const addCommit = (releases: readonly Release[], commit: string): readonly Release[] =>
  releases.map((release, at) => (at === releases.length - 1 ? { ...release, commit } : release));
