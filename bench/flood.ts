/**
 * Loads one page again and again on many connections, as any visitor can. When the parent sends a message, it reports the
 * number of replies with each status, and of each connection error, and ends. It also ends when its parent ends.
 */
import { Agent, get } from "node:http";
import { setPriority } from "node:os";

const [url = "", connections = "0"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
// This process represents another machine, so it gets a low priority and takes little CPU time from the server.
setPriority(10);
const counts: Record<string, number> = {};

function again(): void {
  const count = (what: string): void => void (counts[what] = (counts[what] ?? 0) + 1);
  get(url, { agent }, (reply) => {
    count(String(reply.statusCode));
    reply.once("close", again).on("error", () => {});
    reply.resume();
  }).on("error", (error) => {
    count(error.message);
    setTimeout(again, 50);
  });
}
for (let one = 0; one < Number(connections); one += 1) again();
process.once("message", () => process.send?.(counts, () => process.exit(0)));
process.once("disconnect", () => process.exit(0));
