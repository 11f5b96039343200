import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { lookEveryMs } from "#lib/chains/block-time.ts";
import { chainIsSilent, chainReverted, publicClient } from "#lib/chains/client.ts";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";

const [configured] = env().CHAINS;
const { chain } = configured!;

/** Configures the chain with a node that answers all requests with `answer`. */
async function withNode(answer: RequestListener): Promise<void> {
  const node = createServer(answer);
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
  const before = process.env["CHAINS"];
  const configure = (chains: string | undefined): void => {
    if (chains === undefined) delete process.env["CHAINS"];
    else process.env["CHAINS"] = chains;
    forget("env", `chains/client ${chain}`, "chains/block-time");
  };
  configure(JSON.stringify([{ ...configured, rpcUrl: `http://127.0.0.1:${(node.address() as AddressInfo).port}` }]));
  onTestFinished(() => {
    configure(before);
    node.close();
    node.closeAllConnections();
  });
}

test("the time between two checks for a block is known even if the node does not answer", async () => {
  await withNode(() => {});
  const began = performance.now();
  expect(await lookEveryMs(chain)).toBeGreaterThan(0);
  expect(performance.now() - began).toBeLessThan(9_000);
});

test.each([
  { lost: 1, withinMs: 9_000 },
  { lost: 2, withinMs: 9_000 },
])("a call that was lost $lost times is sent again in time", async ({ lost, withinMs }) => {
  let calls = 0;
  await withNode((request, response) => {
    request.setEncoding("utf8");
    let body = "";
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      calls += 1;
      if (calls <= lost) return;
      const asked = JSON.parse(body) as { id: number }[];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(asked.map(({ id }) => ({ jsonrpc: "2.0", id, result: "0x7" }))));
    });
  });
  const began = performance.now();
  expect(await publicClient(chain).getBlockNumber()).toBe(7n);
  expect(performance.now() - began).toBeLessThan(withinMs);
  expect(calls).toBe(lost + 1);
});

test("an error that the node returns is an answer, also when only the repeated call gets it", async () => {
  let calls = 0;
  await withNode((request, response) => {
    request.resume();
    calls += 1;
    if (calls === 1) return;
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify([{ jsonrpc: "2.0", id: 1, error: { code: 3, message: "execution reverted" } }]));
  });
  const began = performance.now();
  const failure: unknown = await publicClient(chain)
    .estimateGas({ to: "0x000000000000000000000000000000000000dead" })
    .catch((error: unknown) => error);
  expect([chainReverted(failure), chainIsSilent(failure)]).toEqual([true, false]);
  expect(performance.now() - began).toBeLessThan(9_000);
});

test("a provider's rate limit does not count as an answer to the call", async () => {
  await withNode((request, response) => {
    request.resume();
    const error = { code: -32005, message: "Request exceeds defined limit" };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify([{ jsonrpc: "2.0", id: 0, error }]));
  });
  const failure: unknown = await publicClient(chain)
    .getCode({ address: "0x000000000000000000000000000000000000dead" })
    .catch((error: unknown) => error);
  expect(chainIsSilent(failure)).toBe(true);
});
