import { defineConfig } from "@playwright/test";
import { ownFonts } from "./test/helpers/fonts.ts";

const executablePath = process.env["CHROMIUM_PATH"];

export default defineConfig({
  testDir: "e2e",
  globalSetup: "./e2e/setup/start.ts",
  outputDir: ".test/journeys",
  workers: 2,
  retries: 0,
  // How long something takes depends on the machine, so these limits only end a journey that hangs.
  timeout: 600_000,
  expect: { timeout: 60_000 },
  forbidOnly: true,
  reporter: [["list"], ["json", { outputFile: ".test/journeys.json" }]],
  use: {
    browserName: "chromium",
    // A test cannot intercept the requests of a service worker, so service workers are blocked. Tests that need one allow it.
    serviceWorkers: "block",
    locale: "en-GB",
    timezoneId: "Europe/Berlin",
    actionTimeout: 60_000,
    // Traces make the tests slower and are needed only after a failure: npx playwright test --trace on.
    screenshot: "only-on-failure",
    launchOptions: {
      env: { ...(process.env as Record<string, string>), FONTCONFIG_FILE: ownFonts() },
      ...(executablePath !== undefined && { executablePath }),
      args: [
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        // For browsers, http at localhost counts as secure. This name is the same machine without that exception.
        "--host-resolver-rules=MAP plain.example 127.0.0.1",
      ],
    },
  },
});
