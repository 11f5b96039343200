// `npm run lock`, to run after each `npm install`. If the registry did not have a package for another platform during the
// installation, npm leaves it out of the lockfile, and `npm ci` then refuses the lockfile. This adds the missing packages, with
// their versions from the packages that depend on them, and asks the registry for each hash that is missing: without one, npm
// would install whatever it is sent.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";

const file = new URL("../package-lock.json", import.meta.url);
const systems = new Set(["android", "darwin", "freebsd", "linux", "openharmony", "win32"]);
const processors = new Set(["arm", "arm64", "ia32", "loong64", "ppc64", "riscv64", "s390x", "wasm32", "x64"]);

const lock = JSON.parse(readFileSync(file, "utf8"));
const packages = lock.packages;

function isLocked(name, wantedBy) {
  for (let path = wantedBy; ; path = path.slice(0, Math.max(0, path.lastIndexOf("node_modules/") - 1))) {
    if (packages[`${path === "" ? "" : `${path}/`}node_modules/${name}`]) return true;
    if (path === "") return false;
  }
}

function entryFor(name, version, dev) {
  const words = name
    .slice(name.lastIndexOf("/") + 1)
    .replace("amd64", "x64")
    .split("-");
  const os = words.find((word) => systems.has(word));
  const cpu = words.find((word) => processors.has(word));
  if (!cpu || !/^\d/.test(version)) throw new Error(`${name}@${version} does not say which platform it is for.`);
  const libc = words.includes("musl") ? ["musl"] : os === "linux" && words.includes("gnu") ? ["glibc"] : null;
  return { version, cpu: [cpu], ...(dev && { dev }), ...(libc && { libc }), optional: true, ...(os && { os: [os] }) };
}

let count = 0;
for (const [path, { dev, optionalDependencies = {} }] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(optionalDependencies)) {
    if (isLocked(name, path)) continue;
    packages[`node_modules/${name}`] = entryFor(name, version, dev);
    count += 1;
  }
}
const AT_ONCE = 4;
const run = promisify(execFile);

/** npm's own client reads the setting of the registry. It prints nothing if the registry does not have the version. */
async function integrityOf(name, version) {
  const { stdout } = await run("npm", ["view", `${name}@${version}`, "dist.integrity", "--json"], { timeout: 120_000 });
  const integrity = stdout === "" ? null : JSON.parse(stdout);
  if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? "")) throw new Error(`The registry has no hash of ${name}@${version}.`);
  return integrity;
}

const unhashed = Object.entries(packages).filter(
  ([path, { link, integrity }]) => path !== "" && !link && integrity === undefined,
);
const rest = unhashed.values();
const work = async () => {
  for (const [path, entry] of rest) {
    const { version, ...others } = entry;
    const name = others.name ?? path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    packages[path] = { version, integrity: await integrityOf(name, version), ...others };
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, work));
lock.packages = Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`package-lock.json: ${count} added, ${unhashed.length} hashes added.`);
