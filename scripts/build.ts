/** `npm run build`: builds what is missing or out of date. */
import { buildPages, buildServer } from "#lib/server/build.ts";

const say = (line: string): void => console.error(`countersign: ${line}`);
await buildPages(say);
await buildServer(say);
