import { createServer } from "node:http";
import type { FacilitatorClient } from "@x402/core/server";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import { listen, type ListeningServer } from "#test/shop.ts";

export const faults = [
  "clean",
  "hang",
  "acceptThenTimeOut",
  "errorAfterSettling",
  "errorBeforeSettling",
  "slow",
  "pendingForEver",
  "refuse",
  "refuseAfterSettling",
  "lie",
  "garbage",
  "hangUp",
] as const;
export type Fault = (typeof faults)[number];

type Body = { readonly paymentPayload: PaymentPayload; readonly paymentRequirements: PaymentRequirements };
type HostileReply = { readonly status: number; readonly body: string } | "never" | "hangUp";

const json = (status: number, body: unknown): HostileReply => ({ status, body: JSON.stringify(body) });
const NO_SUCH_HASH = `0x${"ab".repeat(32)}`;

export type HostileFacilitator = ListeningServer & {
  fault: Fault;
  /** The number of requests that it received. It treats each of them as a settle request. */
  readonly asked: () => number;
};

/** A facilitator with a fault that the test chooses. It settles with the facilitator of the x402 library. */
export async function openHostileFacilitator(stock: () => Promise<FacilitatorClient>): Promise<HostileFacilitator> {
  let asked = 0;
  let inner: Promise<FacilitatorClient> | undefined;
  const settle = async ({ paymentPayload, paymentRequirements }: Body) =>
    (await (inner ??= stock())).settle(paymentPayload, paymentRequirements);
  const refusal = { success: false, errorReason: "insufficient_funds", transaction: "", network: "eip155:84532" };
  const behave: Readonly<Record<Fault, (body: Body) => Promise<HostileReply>>> = {
    clean: async (body) => json(200, await settle(body)),
    hang: () => Promise.resolve("never"),
    acceptThenTimeOut: async (body) => (await settle(body), "never"),
    errorAfterSettling: async (body) => (await settle(body), json(500, { error: "the database is on fire" })),
    errorBeforeSettling: () => Promise.resolve(json(503, { error: "later" })),
    slow: async (body) => (await new Promise((resolve) => setTimeout(resolve, 1_500)), json(200, await settle(body))),
    pendingForEver: () =>
      Promise.resolve(json(200, { ...refusal, errorReason: "settlement_pending", transaction: NO_SUCH_HASH })),
    refuse: () => Promise.resolve(json(200, refusal)),
    refuseAfterSettling: async (body) => (await settle(body), json(200, refusal)),
    lie: () => Promise.resolve(json(200, { success: true, transaction: NO_SUCH_HASH, network: "eip155:84532" })),
    garbage: () => Promise.resolve({ status: 200, body: "<html>" }),
    hangUp: async (body) => (await settle(body), "hangUp"),
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      asked += 1;
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Body;
      void behave[hostile.fault](body).then((sent) => {
        if (sent === "never") return;
        if (sent === "hangUp") response.destroy();
        else response.writeHead(sent.status, { "content-type": "application/json" }).end(sent.body);
      });
    });
  });
  const listening = await listen(server);
  const hostile: HostileFacilitator = { ...listening, fault: "clean", asked: () => asked };
  return hostile;
}
