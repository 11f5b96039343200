/** `npm run build`: builds what the first `npm start` would build. */
import { buildPages, buildServer } from "#lib/server/build.ts";

await buildPages((line) => console.error(`countersign: ${line}`));
await buildServer();
