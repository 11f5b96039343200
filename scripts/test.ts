/**
 * `npm test`: runs all checks and tests. With arguments it runs only the named tests, and with `--fast` the types, the linter and
 * the tests that only compute.
 */
import { spawn } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { delimiter, join, relative } from "node:path";
import { findChromium } from "./chromium.ts";
import { STATEMENTS } from "../test/helpers/statements.ts";
import { whenEnded } from "../test/helpers/when-ended.ts";
import { memoryFolder } from "./memory-folder.ts";

const root = join(import.meta.dirname, "..");
const RESULTS = join(root, ".test/results.json");
const JOURNEYS = join(root, ".test/journeys.json");
const isFast = process.argv.includes("--fast");
const only = process.argv.slice(2).filter((name) => name !== "--fast");
/** Whether everything runs. */
const isWhole = only.length === 0 && !isFast;
const isJourney = (name: string): boolean => name.startsWith("e2e");

/**
 * Environment variables that the tests must not get, because a developer may have set them. The tests have a configuration of
 * their own.
 */
const foreign =
  /^(ENVIRONMENT|PORT|BASE_URL|DATABASE_.*|DATA_DIR|COUNTERSIGN_HOME|CHAINS|FACILITATOR.*|SETTLEMENT_.*|RELAY.*|SANDBOX_.*|GUARDIAN_.*|POLICY_SIGNER_.*|OUTBOUND_LOOPBACK|PAGES_.*|TRUSTED_PROXY_HOPS|RATE_LIMIT_.*|METRICS_TOKEN|LOG_LEVEL|AUDIT_SIGNING_KEY|WEBHOOK_ENCRYPTION_KEY|VAPID_PRIVATE_KEY|AUDIT_HEADS_FILE|.*_SECRET)$/;
const environment: NodeJS.ProcessEnv = { ...process.env };
for (const name of Object.keys(environment)) if (foreign.test(name)) Reflect.deleteProperty(environment, name);
environment["NEXT_TELEMETRY_DISABLED"] = "1";
// A run starts hundreds of servers and workers. Without the cache each one would compile the same code again.
environment["NODE_COMPILE_CACHE"] = join(root, ".test/compile-cache");
// The type checks are faster without garbage collection, which begins only when they need 3 GiB of memory.
Object.assign(environment, { GOGC: "off", GOMEMLIMIT: "3GiB" });
if (isFast) environment["TESTS"] = "fast";
environment["PATH"] = join(root, "node_modules/.bin") + delimiter + (process.env["PATH"] ?? "");

let passed = 0;
const failures: string[] = [];

type Step = { readonly name: string; readonly command: readonly [string, ...string[]]; readonly shown?: true };

const checks: Step[] = [
  { name: "format", command: ["oxfmt", "--check"] },
  // More checkers would compute the same types again. Incremental data does not exist in a fresh clone.
  { name: "types", command: ["tsc", "--noEmit", "--checkers", "1", "--incremental", "false"] },
  { name: "lint", command: ["oxlint", "--type-aware"] },
  { name: "dead code", command: ["knip", "--no-progress"] },
];

/** Judges the statements that the tests sent, which each run notes anew. */
const statements: Step = { name: "statements", command: ["node", "scripts/statements.ts"], shown: true };

/** Builds pages and server once, before the tests that start servers, because only one build of the pages can run at a time. */
const build: Step = { name: "build", command: ["node", "scripts/build.ts"] };

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
    // stdout and stderr go to one stream, so that error messages stay in order.
    stdio: shown ? ["ignore", 1, 1] : "pipe",
  });
  child.once("close", whenEnded("kill", "-TERM", String(child.pid)));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((done, fail) => child.once("error", fail).once("close", done));
  if (code !== 0) console.log(output.trim());
  console.log(`--- ${name}: ${code === 0 ? "ok" : "failed"} (${((performance.now() - began) / 1000).toFixed(1)} s)`);
  return code === 0;
}

async function check(steps: readonly Step[]): Promise<void> {
  for (const step of steps) {
    if (await succeeds(step)) passed += 1;
    else failures.push(`${step.name}: see above`);
  }
}

type TestCount = { readonly passed: number; readonly failures: readonly string[] };
type Assertion = { readonly status: string; readonly fullName: string; readonly failureMessages: readonly string[] | null };
type Results = {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly Assertion[];
  }[];
};

/** A failure for the summary at the end: its name and at most twelve lines of its message, without frames of dependencies. */
function told(name: string, message = ""): string {
  const lines = message.split("\n").filter((line) => !line.includes("/node_modules/"));
  return [name, ...lines.slice(0, 12)].join("\n    ");
}

function failuresIn({ testResults }: Results): string[] {
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const file = relative(root, name);
    const failed = assertionResults.filter(({ status }) => status === "failed");
    if (failed.length === 0 && message !== "") return [told(file, message)];
    return failed.map(({ fullName, failureMessages }) => told(`${file} › ${fullName}`, failureMessages?.[0]));
  });
}

async function countTests(succeeded: boolean): Promise<TestCount> {
  const text = await readFile(RESULTS, "utf8").catch(() => null);
  const results = JSON.parse(text ?? '{"numPassedTests":0,"testResults":[]}') as Results;
  const failures = failuresIn(results);
  // If there is an error outside of all tests, or no report, the run has failed although no test did.
  if (failures.length === 0 && (!succeeded || text === null)) failures.push("tests: an error outside of them; see above");
  return { passed: results.numPassedTests, failures };
}

type Suite = { readonly specs: readonly Spec[]; readonly suites?: readonly Suite[] };
type Spec = { readonly ok: boolean; readonly title: string; readonly file: string; readonly line: number };
type Journeys = { readonly stats: { readonly expected: number }; readonly suites: readonly Suite[] };

const specsOf = ({ specs, suites = [] }: Suite): readonly Spec[] => [...specs, ...suites.flatMap(specsOf)];

/** Runs the browser journeys against the production server. */
async function runJourneys(chromium: string | null): Promise<TestCount> {
  if (chromium === null) {
    const failure = "journeys: there is no Chromium and none could be installed; name one in CHROMIUM_PATH.";
    return { passed: 0, failures: [failure] };
  }
  const succeeded = await succeeds(journeys);
  const text = await readFile(JOURNEYS, "utf8").catch(() => null);
  const { stats, suites } = JSON.parse(text ?? '{"stats":{"expected":0},"suites":[]}') as Journeys;
  const failed = suites.flatMap(specsOf).filter(({ ok }) => !ok);
  const failures = failed.map(({ file, line, title }) => `e2e/${file}:${line} › ${title}`);
  // Without a report the run has failed, whatever its exit code.
  if (failures.length === 0 && (!succeeded || text === null)) failures.push("journeys: an error outside of them; see above");
  return { passed: stats.expected, failures };
}

await mkdir(join(root, ".test"), { recursive: true });
// Begin now to look for a browser, in parallel with the checks, because it may have to be downloaded. The test of the demo uses
// it too.
const coming = isWhole || only.some(isJourney) ? findChromium() : null;
await Promise.all([RESULTS, JOURNEYS, STATEMENTS].map((file) => rm(file, { force: true })));
if (isFast)
  await Promise.all([check(checks.filter(({ name }) => name === "types")), check(checks.filter(({ name }) => name === "lint"))]);
if (isWhole) {
  // Remove old builds, because a deleted source file does not make a build look outdated.
  for (const built of [".next/BUILD_ID", ".server"]) await rm(join(root, built), { recursive: true, force: true });
  // The checks and the build run at the same time to save time.
  await Promise.all([check(checks), check([build])]);
}
const memory = isWhole ? await memoryFolder() : null;
if (memory !== null) Object.assign(environment, { TEST_DATA_DIR: memory, TMPDIR: memory });
const chromium = await coming;
if (chromium !== null) environment["CHROMIUM_PATH"] = chromium;
const counts: TestCount[] = [];
if (only.length === 0 || !only.every(isJourney)) counts.push(await countTests(await succeeds(tests)));
if (isWhole) await check([statements]);
if (isWhole || only.some(isJourney)) counts.push(await runJourneys(chromium));
for (const count of counts) {
  passed += count.passed;
  failures.push(...count.failures);
}
for (const failure of failures) console.log(`\nfailed: ${failure.trimEnd()}`);
console.log(`\n${passed} passed, ${failures.length} failed`);
process.exit(failures.length === 0 && passed > 0 ? 0 : 1);
