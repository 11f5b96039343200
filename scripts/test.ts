/** Everything that must hold, in one run: `npm test`. With arguments it runs only the tests that they name. */
import { spawn } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { findChromium } from "./chromium.ts";

const root = join(import.meta.dirname, "..");
const RESULTS = join(root, ".test/results.json");
const JOURNEYS = join(root, ".test/journeys.json");
const only = process.argv.slice(2);
const isJourney = (name: string): boolean => name.startsWith("e2e");

/** The tests bring their own configuration; what a developer has set must not reach them. */
const foreign =
  /^(ENVIRONMENT|PORT|BASE_URL|DATABASE_.*|DATA_DIR|CHAINS|FACILITATOR.*|SETTLEMENT_.*|RELAY.*|GUARDIAN_.*|POLICY_SIGNER_.*|OUTBOUND_LOOPBACK|TRUSTED_PROXY_HOPS|RATE_LIMIT_.*|METRICS_TOKEN|LOG_LEVEL|AUDIT_SIGNING_KEY|.*_SECRET)$/;
const environment: NodeJS.ProcessEnv = { ...process.env };
for (const name of Object.keys(environment)) if (foreign.test(name)) Reflect.deleteProperty(environment, name);
environment["NEXT_TELEMETRY_DISABLED"] = "1";
// Servers and workers start by the hundred; each would compile the same code again.
environment["NODE_COMPILE_CACHE"] = join(root, ".test/compile-cache");
environment["PATH"] = join(root, "node_modules/.bin") + delimiter + (process.env["PATH"] ?? "");

type Step = { readonly name: string; readonly command: readonly [string, ...string[]]; readonly shown?: true };

const checks: Step[] = [
  { name: "format", command: ["oxfmt", "--check"] },
  { name: "lint", command: ["oxlint", "--type-aware"] },
  { name: "types", command: ["tsc", "--noEmit"] },
  { name: "dead code", command: ["knip", "--no-progress"] },
];

/** Built once, before the tests that start servers: two builds at the same time leave one that is made of both. */
const pages: Step = { name: "pages", command: ["next", "build"] };

const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${RESULTS}`];
const tests: Step = {
  name: "tests",
  command: ["vitest", "run", ...reporters, ...only.filter((name) => !isJourney(name))],
  shown: true,
};
const journeys: Step = { name: "journeys", command: ["playwright", "test", ...only.filter(isJourney)], shown: true };

async function succeeds({ name, command: [program, ...options], shown }: Step): Promise<boolean> {
  const began = performance.now();
  console.log(`\n--- ${name}`);
  const child = spawn(program, options, {
    cwd: root,
    env: environment,
    stdio: shown ? ["ignore", "inherit", "inherit"] : "pipe",
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
  if (code !== 0) console.log(output.trim());
  console.log(`--- ${name}: ${code === 0 ? "ok" : "failed"} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  return code === 0;
}

type Results = { readonly numPassedTests: number; readonly numFailedTests: number };

async function countTests(succeeded: boolean): Promise<{ passed: number; failed: number }> {
  const text = await readFile(RESULTS, "utf8").catch(() => null);
  const { numPassedTests = 0, numFailedTests = 0 } = text ? (JSON.parse(text) as Results) : {};
  // A file that does not load, or an error outside a test, fails the run without failing a test. So does a run without a report.
  return { passed: numPassedTests, failed: numFailedTests || (succeeded && text !== null ? 0 : 1) };
}

type Journeys = { readonly stats: { readonly expected: number; readonly unexpected: number; readonly flaky: number } };

/** What people do in a browser, against the production server. */
async function runJourneys(): Promise<{ passed: number; failed: number }> {
  const chromium = await findChromium();
  if (chromium === null) {
    console.log("\n--- journeys: failed. There is no Chromium and none could be installed; name one in CHROMIUM_PATH.");
    return { passed: 0, failed: 1 };
  }
  environment["CHROMIUM_PATH"] = chromium;
  const succeeded = await succeeds(journeys);
  const text = await readFile(JOURNEYS, "utf8").catch(() => null);
  const { expected = 0, unexpected = 0, flaky = 0 } = text ? (JSON.parse(text) as Journeys).stats : {};
  // A run that ended before it wrote its report has failed, whatever it said at its end.
  return { passed: expected, failed: unexpected + flaky || (succeeded && text !== null ? 0 : 1) };
}

await mkdir(join(root, ".test"), { recursive: true });
await Promise.all([rm(RESULTS, { force: true }), rm(JOURNEYS, { force: true })]);
let passed = 0;
let failed = 0;
for (const check of only.length > 0 ? [] : [...checks, pages]) {
  if (await succeeds(check)) passed += 1;
  else failed += 1;
}
const counts = [];
if (only.length === 0 || !only.every(isJourney)) counts.push(await countTests(await succeeds(tests)));
if (only.length === 0 || only.some(isJourney)) counts.push(await runJourneys());
for (const count of counts) {
  passed += count.passed;
  failed += count.failed;
}
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
