/** React, Next.js and better-auth read NODE_ENV while they load, so the server imports this file first. */
Object.assign(process.env, {
  NODE_ENV: process.argv.includes("--dev") ? "development" : "production",
  NEXT_TELEMETRY_DISABLED: "1",
});
