/** Everything that must hold, in one run: `npm test`. With arguments it runs only the tests that they name. */
import { spawn } from "node:child_process";
import { mkdir, readFile, rm } from "node:fs/promises";
import { delimiter, join } from "node:path";

const root = join(import.meta.dirname, "..");
const RESULTS = join(root, ".test/results.json");
const only = process.argv.slice(2);

/** The tests bring their own configuration; what a developer has set must not reach them. */
const foreign =
  /^(ENVIRONMENT|PORT|BASE_URL|DATABASE_.*|DATA_DIR|CHAINS|FACILITATOR.*|SETTLEMENT_.*|OUTBOUND_LOOPBACK|TRUSTED_PROXY_HOPS|RATE_LIMIT_.*|METRICS_TOKEN|LOG_LEVEL|.*_SECRET)$/;
const environment: NodeJS.ProcessEnv = { ...process.env };
for (const name of Object.keys(environment)) if (foreign.test(name)) Reflect.deleteProperty(environment, name);
environment["PATH"] = join(root, "node_modules/.bin") + delimiter + (process.env["PATH"] ?? "");

type Step = { readonly name: string; readonly command: readonly [string, ...string[]]; readonly shown?: true };

const checks: Step[] = [
  { name: "format", command: ["oxfmt", "--check"] },
  { name: "lint", command: ["oxlint", "--type-aware"] },
  { name: "types", command: ["tsc", "--noEmit"] },
  { name: "dead code", command: ["knip", "--no-progress"] },
];

const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${RESULTS}`];
const tests: Step = { name: "tests", command: ["vitest", "run", ...reporters, ...only], shown: true };

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
  // A file that does not load, or an error outside a test, fails the run without failing a test.
  return { passed: numPassedTests, failed: numFailedTests || (succeeded ? 0 : 1) };
}

await mkdir(join(root, ".test"), { recursive: true });
await rm(RESULTS, { force: true });
let passed = 0;
let failed = 0;
for (const check of only.length > 0 ? [] : checks) {
  if (await succeeds(check)) passed += 1;
  else failed += 1;
}
const counted = await countTests(await succeeds(tests));
passed += counted.passed;
failed += counted.failed;
console.log(`\n${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
