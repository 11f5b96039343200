/** `npm run build`: what `npm start` would build at its first start. */
import { buildPages, buildServer } from "#lib/server/build.ts";

await buildPages((line) => console.error(`countersign: ${line}`));
await buildServer();
