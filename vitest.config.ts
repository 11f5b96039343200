import { defineConfig } from "vitest/config";
import { fastFiles } from "./test/helpers/fast-files.ts";
import { RUN_MS } from "./test/helpers/run-time.ts";

const files = "{app,bench,components,contracts,examples,lib,scripts,test}/**/*.test.{ts,tsx}";
const isFast = process.env["TESTS"] === "fast";
/** The tests that `npm run test:debian` alone runs. */
const DEBIAN = "test/debian/**";

export default defineConfig({
  test: {
    include: isFast ? fastFiles(files) : [files],
    exclude: ["**/node_modules/**", ".next/**", ...(process.env["TESTS"] === "debian" ? [] : [DEBIAN])],
    globalSetup: isFast ? [] : ["./test/helpers/cluster.ts"],
    pool: "forks",
    // Loading the code once per process saves time. clean-process.ts makes the files independent of each other.
    isolate: false,
    setupFiles: ["./test/helpers/clean-process.ts"],
    // Three workers use even two cores well, because many tests wait for a clock, a chain or another process.
    maxWorkers: 3,
    retry: 0,
    // How long something takes depends on the machine, so these limits only end a test that hangs.
    testTimeout: RUN_MS,
    hookTimeout: RUN_MS,
    teardownTimeout: 60_000,
    expect: { poll: { timeout: 60_000 } },
    // A failure in the summary shows what was found.
    chaiConfig: { truncateThreshold: 4_000 },
    env: {
      ENVIRONMENT: "sandbox",
      // Without this line, Vite sets BASE_URL to "/".
      BASE_URL: "http://localhost:3000",
      LOG_LEVEL: "silent",
      // Most tests use the same IP address, so the limit is high. The tests of the rate limits set their own.
      RATE_LIMIT_PER_ADDRESS: "1000000",
      BETTER_AUTH_SECRET: "for the tests only, and of no worth elsewhere",
      API_KEY_SECRET: "another one, also for the tests only",
      AUDIT_SIGNING_KEY: "c2lnbnMgdGhlIGNoZWNrcG9pbnRzIG9mIHRlc3RzISE",
      VAPID_PRIVATE_KEY: "dGVsbHMgcGVvcGxlIG9mIHJlcXVlc3RzISBpbiB0ZXM",
      SETTLEMENT_PRIVATE_KEY: `0x${"5e".repeat(32)}`,
      RELAYER_PRIVATE_KEY: `0x${"4e".repeat(32)}`,
      GUARDIAN_PRIVATE_KEY: `0x${"69".repeat(32)}`,
      POLICY_SIGNER_PRIVATE_KEY: `0x${"95".repeat(32)}`,
    },
  },
});
