import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { plain } from "#test/package.ts";
import { listen } from "#test/shop.ts";

/* Tests `listen` with a server that answers as the service does. test/cli.test.ts runs it with the real service. */

const command = join(import.meta.dirname, "../../sdk/src/cli.ts");

type Problem = { readonly status: number; readonly code: string; readonly detail: string };
type Happened = { readonly id: string; readonly sequence: number };

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-listen-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const answerJson = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

/** A service with these events, and a receiver of them. While `problems` has some, the service answers with the next one. */
async function listenScene({ events, problems = [] }: { readonly events: Happened[]; readonly problems?: Problem[] }) {
  const received: number[] = [];
  const server = await listen(
    createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
      if (pathname === "/hooks") {
        const take = async (): Promise<void> => {
          received.push((JSON.parse(await text(request)) as Happened).sequence);
          response.writeHead(204).end();
        };
        take().catch(() => response.destroy());
        return;
      }
      const problem = problems.shift();
      if (problem) return answerJson(response, problem.status, problem);
      const items = events.filter(({ sequence }) => sequence > Number(searchParams.get("after")));
      answerJson(response, 200, { items: items.slice(0, Number(searchParams.get("limit"))), hasMore: false });
    }),
  );
  onTestFinished(() => server.close());
  const settings = { COUNTERSIGN_URL: server.url, COUNTERSIGN_API_KEY: "csk_sandbox_any" };
  const start = (folder: string, ...line: string[]) => {
    const child = spawn(process.execPath, [command, "listen", `${server.url}/hooks`, ...line], {
      cwd: folder,
      env: { ...plain, NODE_ENV: "production", NODE_OPTIONS: "", ...settings },
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let heard = "";
    child.stderr.on("data", (said: Buffer) => (heard += said.toString()));
    const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
    return { heard: () => heard, ended, stop: () => (child.kill("SIGTERM"), ended) };
  };
  return { received, start };
}

const eventAt = (sequence: number): Happened & { readonly type: string; readonly data: object } => ({
  id: `evt_${sequence}`,
  sequence,
  type: "payment.denied",
  data: { entityId: "aut_1" },
});

test("a first run that is stopped before an event keeps its place, and the next run sends what came between", async () => {
  const folder = await newFolder();
  const events = [eventAt(1), eventAt(2)];
  const { received, start } = await listenScene({ events });
  const first = start(folder, "--cursor", "cursor");
  await expect.poll(first.heard).toContain("The secret is");
  expect(await first.stop()).toBe(0);
  expect(await readFile(join(folder, "cursor"), "utf8")).toBe("2\n");
  events.push(eventAt(3));
  const second = start(folder, "--cursor", "cursor");
  await expect.poll(() => received).toEqual([3]);
  await second.stop();
});

test("a cursor that cannot be read or written is a wrong use", async () => {
  const folder = await newFolder();
  await mkdir(join(folder, "directory"));
  const { start } = await listenScene({ events: [] });
  for (const [cursor, says] of [
    ["directory", "The file directory cannot be read"],
    [join("missing", "cursor"), `The file ${join("missing", "cursor")} cannot be written`],
  ] as const) {
    const run = start(folder, "--cursor", cursor);
    expect(await run.ended).toBe(2);
    expect(run.heard()).toContain(says);
  }
});

test("waits while the service answers 503 or 429, and sends the events after that", async () => {
  const folder = await newFolder();
  const unavailable = { status: 503, code: "service_unavailable", detail: "The database does not answer." };
  const limited = { status: 429, code: "rate_limited", detail: "Too many requests." };
  const waits = async (problem: Problem): Promise<void> => {
    // The package repeats a call itself, and gives up after five answers.
    const problems = Array.from({ length: 5 }, () => problem);
    const { received, start } = await listenScene({ events: [eventAt(1)], problems });
    const run = start(folder, "--after", "0");
    await expect.poll(() => received).toEqual([1]);
    expect(run.heard()).toContain(`The service answers ${problem.status}. Trying again.`);
    expect(await run.stop()).toBe(0);
  };
  await Promise.all([waits(unavailable), waits(limited)]);
});
