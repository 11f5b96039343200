/**
 * Sets NODE_ENV before React, Next.js and better-auth read it, which they do while they load. So the server imports this file
 * first. Of this project's own code, only proxy.ts reads it.
 */
Object.assign(process.env, {
  NODE_ENV: process.argv.includes("--dev") ? "development" : "production",
  NEXT_TELEMETRY_DISABLED: "1",
});
