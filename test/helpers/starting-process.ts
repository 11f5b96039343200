/** In place of pages.ts: a process whose start waits (WAIT_MS), computes without end (COMPUTE=yes), or never ends (WAIT_MS=never). */
import { setTimeout as pause } from "node:timers/promises";
import type { FromPages } from "#lib/server/messages.ts";

const { WAIT_MS = "0" } = process.env;
const tell = (message: FromPages): void => void process.send?.(message, () => {});

process.on("disconnect", () => process.exit(0));
process.on("message", (message: { readonly type: string }) => message.type === "end" && process.exit(0));

while (process.env["COMPUTE"] === "yes");
if (WAIT_MS !== "never") {
  await pause(Number(WAIT_MS));
  tell({ type: "listening", port: 1 });
}
