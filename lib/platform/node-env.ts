/**
 * React, Next.js and better-auth read NODE_ENV while they load, so this is the first import of the server. It decides
 * nothing of ours.
 */
Object.assign(process.env, {
  NODE_ENV: process.argv.includes("--dev") ? "development" : "production",
  NEXT_TELEMETRY_DISABLED: "1",
});
