import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { tellUnreachableChains } from "#lib/chains/tell-unreachable.ts";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";

test("prints no key of a provider, not even of a chain that answers", async () => {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const calls = [(await json(request)) as { readonly id: number }[]].flat();
    response.end(JSON.stringify(calls.map(({ id }) => ({ jsonrpc: "2.0", id, result: "0x1" }))));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const answering = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/key-of-the-provider`;
  const before = process.env["CHAINS"];
  const chains = [
    { chain: "eip155:56", rpcUrl: answering },
    { chain: "eip155:57", rpcUrl: "http://127.0.0.1:1/v2/key-of-the-provider" },
  ];
  process.env["CHAINS"] = JSON.stringify(chains.map((one) => ({ ...env().CHAINS[0], ...one })));
  forget("env");
  onTestFinished(() => {
    if (before === undefined) delete process.env["CHAINS"];
    else process.env["CHAINS"] = before;
    forget("env");
    server.close();
  });
  const said: string[] = [];
  await tellUnreachableChains((line) => void said.push(line));
  const text = said.join("\n");
  expect(text).toContain("the chain eip155:57 cannot be reached at 127.0.0.1:1.");
  expect(text).toContain(`"chain":"eip155:56","rpcUrl":"${new URL(answering).origin}/…"`);
  expect(text).toContain(`"chain":"eip155:57","rpcUrl":"http://127.0.0.1:8545"`);
  expect(text).not.toMatch(/key-of-the-provider/);
  Object.assign(env(), { ENVIRONMENT: "production" });
  await tellUnreachableChains((line) => void said.splice(0, said.length, line));
  expect(said).toEqual([expect.stringContaining("the chain eip155:57 cannot be reached at 127.0.0.1:1.")]);
});
