// Runs before each script of package.json that has a `pre` script, and installs missing packages. npm puts node_modules/.bin first
// in PATH, so this file runs on the machine's Node (20 or newer) before the installation, and later on that of the lockfile.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const WANTED_NODE = 24;

const say = (text) => console.error(`countersign: ${text}`);

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), "utf8")).packages;
  } catch {
    return {};
  }
}

/**
 * Whether all packages of the lockfile are installed. npm writes its list of installed packages last, so after a partial
 * installation there is none. Optional packages may be missing, because they may be for another platform.
 */
function isInstalled() {
  const installed = packagesOf("node_modules/.package-lock.json");
  return Object.entries(packagesOf("package-lock.json")).every(
    ([path, { version, optional }]) => path === "" || (installed[path] ? installed[path].version === version : optional === true),
  );
}

// The PATH without the Node in node_modules, because npm replaces that Node during the installation.
const path = (process.env.PATH ?? "")
  .split(delimiter)
  .filter(
    (directory) => directory !== join(root, "node_modules", ".bin") && directory !== join(process.cwd(), "node_modules", ".bin"),
  )
  .join(delimiter);

function npm(...command) {
  return new Promise((resolve) => {
    const child = spawn("npm", command, { cwd: root, env: { ...process.env, PATH: path }, stdio: ["ignore", 2, 2] });
    child.on("error", () => resolve(1));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

async function install() {
  say("installing packages; this happens once and takes about a minute.");
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  const timer = setInterval(() => say(`still installing, ${seconds()} s.`), 10_000);
  const command = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
  // Retry once, because a registry may fail temporarily.
  const failed = (await npm(...command)) !== 0 && (await npm(...command)) !== 0;
  clearInterval(timer);
  if (failed) {
    say("npm ci failed. Its messages stand above; is the package registry reachable?");
    process.exit(1);
  }
  say(`installed in ${seconds()} s.`);
}

const major = (version) => Number(/^v?(\d+)\./.exec(version)?.[1] ?? 0);

/**
 * The major version of Node with which the npm script will run: of the Node in node_modules if that is completely installed, or
 * else of the machine's Node.
 */
function nodeVersion() {
  const options = { encoding: "utf8", env: { ...process.env, PATH: join(root, "node_modules", ".bin") + delimiter + path } };
  return major(spawnSync("node", ["--version"], options).stdout ?? "");
}

if (major(process.version) < 20) {
  say(`Node ${process.version} is too old; install Node 20 or newer.`);
  process.exit(1);
}
if (!isInstalled()) await install();
if (nodeVersion() < WANTED_NODE) await npm("rebuild", "node", "--loglevel=error");
if (nodeVersion() < WANTED_NODE) {
  say(
    `Node ${WANTED_NODE} did not come with the packages. Allow the install script of the package "node", or install Node ${WANTED_NODE}.`,
  );
  process.exit(1);
}
