// Runs before each script of package.json that has a `pre` script, and installs missing packages. npm puts node_modules/.bin first
// in PATH, so this file runs on the machine's Node (20 or newer) before the installation, and later on that of the lockfile.
import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const WANTED_NODE = 24;

const say = (text) => console.error(`countersign: ${text}`);

function json(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), "utf8"));
  } catch {
    return null;
  }
}

/**
 * Whether all packages of the lockfile are installed. npm writes its list of installed packages last, so after a partial
 * installation there is none. Optional packages may be missing, because they may be for another platform.
 */
function isInstalled() {
  const list = json("node_modules/.package-lock.json")?.packages;
  return Object.entries(json("package-lock.json")?.packages ?? {}).every(([path, { version, optional, devOptional }]) => {
    const installed = path === "" ? version : list?.[path]?.version;
    return installed === version || (!installed && (optional || devOptional));
  });
}

// The PATH without the Node in node_modules, because npm replaces that Node during the installation.
const path = (process.env.PATH ?? "")
  .split(delimiter)
  .filter(
    (directory) => directory !== join(root, "node_modules", ".bin") && directory !== join(process.cwd(), "node_modules", ".bin"),
  )
  .join(delimiter);

function npm(cwd, ...command) {
  return new Promise((resolve) => {
    const child = spawn("npm", command, { cwd, env: { ...process.env, PATH: path }, stdio: ["ignore", 2, 2] });
    child.on("error", () => resolve(1));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

const stage = join(root, ".packages");
const packages = join(root, "node_modules");

/** `npm ci` first deletes the packages that are there, so it runs in another folder, and only a complete result replaces them. */
async function installBeside() {
  rmSync(stage, { recursive: true, force: true });
  mkdirSync(stage);
  for (const file of ["package.json", "package-lock.json", ".npmrc"])
    if (existsSync(join(root, file))) copyFileSync(join(root, file), join(stage, file));
  const command = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund", "--loglevel=error"];
  // Retry once, because a registry may fail temporarily.
  if ((await npm(stage, ...command)) !== 0 && (await npm(stage, ...command)) !== 0) return false;
  try {
    if (existsSync(packages)) renameSync(packages, join(stage, "before"));
  } catch {
    // A folder that is a volume cannot be moved. All packages are in npm's cache now.
    return (await npm(root, ...command, "--prefer-offline")) === 0;
  }
  renameSync(join(stage, "node_modules"), packages);
  return true;
}

async function install() {
  say("installing packages; this happens once and takes about a minute.");
  const began = Date.now();
  const seconds = () => Math.round((Date.now() - began) / 1000);
  const timer = setInterval(() => say(`still installing, ${seconds()} s.`), 10_000);
  const done = await installBeside().finally(() => rmSync(stage, { recursive: true, force: true }));
  clearInterval(timer);
  if (!done) {
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
if (nodeVersion() < WANTED_NODE) await npm(root, "rebuild", "node", "--loglevel=error");
if (nodeVersion() < WANTED_NODE) {
  say(
    `Node ${WANTED_NODE} did not come with the packages. Allow the install script of the package "node", or install Node ${WANTED_NODE}.`,
  );
  process.exit(1);
}
