/**
 * Sets NODE_ENV before React, Next.js and better-auth read it, which they do while they load. So the server imports this file
 * first. The code of this project does not use NODE_ENV.
 */
Object.assign(process.env, {
  NODE_ENV: process.argv.includes("--dev") ? "development" : "production",
  NEXT_TELEMETRY_DISABLED: "1",
});
