/**
 * `npm run release -- 0.2.0` makes a release from a clean tree: the version in every file that names it, the changelog, the hashes of the
 * migrations, both packages with their checksums in the folder `release`, a commit with a tag, and a commit that records the first one.
 */
import { createHash } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import releases from "../releases.json" with { type: "json" };
import { plain } from "../test/helpers/package.ts";
import { brokenPromises } from "./promise.ts";
import { addCommit, addRelease, closeChangelog, raiseVersion } from "./release-texts.ts";

const root = join(import.meta.dirname, "..");
const made = join(root, "release");
const NAMES_THE_VERSION = ["docs/operate/install.md", "docs/start/first-agent.md", "deploy/kubernetes/kustomization.yaml"];

const git = (...words: string[]): string => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
const npm = (...words: string[]) =>
  execFileSync("npm", [...words, "--loglevel=error"], {
    cwd: root,
    env: { ...plain, NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "inherit"],
  });
const say = (line: string): void => console.log(line);

const change = (file: string, by: (text: string) => string): void =>
  writeFileSync(join(root, file), by(readFileSync(join(root, file), "utf8")));
const save = (list: readonly unknown[]): void => change("releases.json", () => `${JSON.stringify(list, null, 2)}\n`);

function pack(): void {
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made);
  for (const folder of [".", "./sdk"]) npm("pack", folder, "--pack-destination", made);
  const sums = readdirSync(made).map(
    (file) =>
      `${createHash("sha256")
        .update(readFileSync(join(made, file)))
        .digest("hex")}  ${file}\n`,
  );
  writeFileSync(join(made, "SHA256SUMS"), sums.join(""));
}

const [version = ""] = process.argv.slice(2);
if (git("status", "--porcelain") !== "") throw new Error("Commit or remove what is changed first.");
const folder = join(root, "drizzle");
const files = readdirSync(folder).filter((file) => file.endsWith(".sql"));
const migrations = Object.fromEntries(files.map((file) => [file, readFileSync(join(folder, file), "utf8")]));
const next = addRelease(releases, version, migrations);
const [broken] = brokenPromises(migrations, releases);
if (broken !== undefined) throw new Error(broken);

change("CHANGELOG.md", (text) => closeChangelog(text, version, new Date().toISOString().slice(0, 10)));
for (const file of NAMES_THE_VERSION) change(file, (text) => raiseVersion(file, text, manifest.version, version));
for (const options of [[], ["--prefix", "sdk"]]) npm("version", version, "--no-git-tag-version", ...options);
save(next);
pack();
git("commit", "-qam", `chore: release ${version}`);
git("tag", `v${version}`);
save(addCommit(next, git("rev-parse", "HEAD")));
git("commit", "-qam", `chore: record the commit of ${version}`);
say(`release/ has the packages of ${version} and their checksums:`);
say(readFileSync(join(made, "SHA256SUMS"), "utf8").trimEnd());
say(
  `Run "npm test" at the tag v${version}, and push both commits and the tag. The workflow "release" publishes what the tag names.`,
);
