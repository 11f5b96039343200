import { createServer, type RequestListener } from "node:http";
import { onTestFinished } from "vitest";
import { usdcAddress } from "../../examples/chain.ts";
import { forget } from "#lib/process.ts";
import { randomAddress } from "#test/sellers.ts";
import { listen } from "#test/shop.ts";

/* Sellers on this machine that give any answer, also one that a server made with the standard packages never gives. */

const hosts: string[] = [];

/** Makes the service treat this seller on this machine as a seller on the web. */
export function admit(url: string): string {
  hosts.push(new URL(url).host);
  process.env["OUTBOUND_LOOPBACK"] = hosts.join(",");
  forget("env", "outbound/guarded-fetch", "payments/probe-domain");
  return url;
}

export async function openSeller(answer: (...call: Parameters<RequestListener>) => unknown): Promise<string> {
  const server = await listen(createServer((request, response) => void answer(request, response)));
  onTestFinished(() => server.close());
  return admit(server.url);
}

export const base64 = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString("base64");

export const offer = () => ({
  scheme: "exact",
  network: "eip155:84532",
  amount: "250000",
  asset: usdcAddress,
  payTo: randomAddress(),
  maxTimeoutSeconds: 120,
  extra: { name: "USDC", version: "2" },
});
