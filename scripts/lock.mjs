// `npm run lock`, to run after each `npm install`. If the registry did not have a package for another platform during the
// installation, npm leaves it out of the lockfile, and `npm ci` then refuses the lockfile. This adds the missing packages, with
// their versions from the packages that depend on them.
import { readFileSync, writeFileSync } from "node:fs";

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
lock.packages = Object.fromEntries(Object.entries(packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`package-lock.json: ${count} added.`);
