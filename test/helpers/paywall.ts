import type { ServerResponse } from "node:http";
import { encodePaymentRequiredHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import type { Address } from "viem";
import { forget, perProcess } from "#lib/process.ts";
import { installedFetch, standardLimits } from "#lib/outbound/guarded-fetch.ts";
import { serve } from "#test/guarded.ts";
import { CHAIN } from "#test/mandates.ts";
import { randomAddress } from "#test/sellers.ts";

/* A seller's server on this machine, whose 402 the test can change. It is closed after the test. */

const USDC = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

export type Paywall = {
  /** host:port, which tests use as the seller's domain. */
  readonly domain: string;
  readonly url: string;
  readonly payTo: Address;
  /** The offer in the 402; a test may change it. */
  readonly offer: Record<string, unknown>;
  /** If set, the server calls this function to answer, and sends no 402. */
  answer: ((response: ServerResponse) => void) | null;
  /** Received requests, such as "GET /report". */
  readonly asked: string[];
  /** The payment challenge as an agent decodes it from the 402. `change` replaces fields of the offer. */
  challenge(change?: Record<string, unknown>, path?: string): PaymentRequired;
};

/** Allows the service to call these hosts on this machine, and sets short time limits for its calls. */
export function mayReach(...domains: readonly string[]): void {
  process.env["OUTBOUND_LOOPBACK"] = domains.join(",");
  forget("env");
  forget("outbound/guarded-fetch");
  perProcess("outbound/guarded-fetch", () => installedFetch({ ...standardLimits, headersMs: 2_000, bodyMs: 2_000 }));
}

export async function openPaywall(): Promise<Paywall> {
  const asked: string[] = [];
  const { port } = await serve((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (paywall.answer) return paywall.answer(response);
    const required = encodePaymentRequiredHeader(paywall.challenge({}, request.url));
    response.writeHead(402, { "payment-required": required, "content-type": "application/json" }).end("{}");
  });
  const domain = `127.0.0.1:${port}`;
  const payTo = randomAddress();
  const offer: Record<string, unknown> = {
    scheme: "exact",
    network: CHAIN,
    amount: "250000",
    asset: USDC,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name: "USDC", version: "2" },
  };
  const paywall: Paywall = {
    domain,
    url: `http://${domain}`,
    payTo,
    offer,
    answer: null,
    asked,
    challenge: (change = {}, path = "/report") =>
      ({ x402Version: 2, resource: { url: `http://${domain}${path}` }, accepts: [{ ...offer, ...change }] }) as PaymentRequired,
  };
  return paywall;
}
