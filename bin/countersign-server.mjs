#!/usr/bin/env node
// Runs one of the programs in dist. They need Node 24; on an older Node they run with the one that npm installed beside this package.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const WANTED_NODE = 24;
const home = join(dirname(fileURLToPath(import.meta.url)), "..", "dist");

const commands = {
  start: "serves on port 3000, or PORT; --api serves no pages",
  demo: "shows a payment from start to end on this machine; --once stops afterwards",
  migrate: "applies the missing migrations to the database",
  "setup-code": "prints a new code for the first platform admin",
  restored: "accepts the audit log of an older backup that you restored",
  "copy-database": "copies the embedded database into the empty one of DATABASE_URL",
  verify: "verifies a saved receipt",
  "chain-deploy": "deploys the mandate contracts on a chain",
};
const usage = `Usage: countersign-server <command>

${Object.entries(commands)
  .map(([name, what]) => `  ${name.padEnd(15)}${what}`)
  .join("\n")}`;

const { version, nodeFlags } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));

/** The Node that this process is, if it is new enough, or else the optional package for this platform. */
function node() {
  if (Number(process.versions.node.split(".")[0]) >= WANTED_NODE) return process.execPath;
  const platform = process.platform === "win32" ? "win" : process.platform;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`node-${platform}-${process.arch}/package.json`));
    const file = join(folder, "bin", process.platform === "win32" ? "node.exe" : "node");
    return existsSync(file) ? file : null;
  } catch {
    return null;
  }
}

function run(command, rest) {
  const program = node();
  if (program === null) {
    console.error(
      `countersign: Node ${process.versions.node} is too old, and npm did not install Node ${WANTED_NODE} for this platform, or was told to omit optional packages. Install Node ${WANTED_NODE}.`,
    );
    process.exit(1);
  }
  const flags = command === "start" ? nodeFlags : [];
  // If this process is killed, the channel closes, and the service or the demo stops.
  const child = spawn(program, [...flags, join(home, `${command}.mjs`), ...rest], {
    env: { ...process.env, COUNTERSIGN_HOME: home },
    stdio: ["inherit", "inherit", "inherit", "ipc"],
  });
  child.channel?.unref();
  // On Windows the console sends Ctrl-C to the program too, and a signal from here would end it at once.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"])
    process.on(signal, () => process.platform === "win32" || child.kill(signal === "SIGHUP" ? "SIGTERM" : signal));
  child.once("error", (error) => {
    console.error(`countersign: ${error.message}`);
    process.exit(1);
  });
  child.once("close", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}

const [command = "", ...rest] = process.argv.slice(2);
if (Object.hasOwn(commands, command) && rest.includes("--help"))
  console.log(`countersign-server ${command}: ${commands[command]}`);
else if (command === "--version") console.log(version);
else if (Object.hasOwn(commands, command)) run(command, rest);
else {
  (command === "" || command === "--help" ? console.log : console.error)(usage);
  process.exit(command === "" || command === "--help" ? 0 : 1);
}
