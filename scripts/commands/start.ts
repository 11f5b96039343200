/** `countersign-server start`: the same as `npm start`, without a build. */
import "#lib/installation/node-env.ts";
import "./with-parent.ts";
import { toldCauses } from "#lib/db/failure.ts";
import { serve } from "#lib/server/entry.ts";

const say = (line: string): void => console.error(`countersign: ${line}`);
const pages = process.argv.includes("--api") ? null : "another process";

await serve({ development: false, pages, say }).catch((error: unknown) => {
  say(toldCauses(error));
  process.exit(1);
});
