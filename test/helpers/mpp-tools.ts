import type { Server } from "node:http";
import { createAdaptorServer } from "@hono/node-server";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Errors } from "mppx";
import { evm, Mppx, Transport } from "mppx/server";
import { parseSignature, type Hex } from "viem";
import usdc from "../../contracts/artifacts/TestUSDC.json" with { type: "json" };
import { usdcAddress, type LocalChain } from "../../examples/chain.ts";
import { listen, type ListeningServer } from "#test/shop.ts";

const secretKey = "a key of this test, and of no other one";

/** mppx's method for a charge of USDC that is settled on the local chain, without its own transport, which speaks x402 too. */
function chargeOn(chain: LocalChain, payTo: Hex) {
  const { transport: _, ...charge } = evm.charge({
    currency: usdcAddress,
    recipient: payTo,
    chainId: 84_532,
    decimals: 6,
    authorization: { name: "USDC", version: "2" },
    async settle({ payload: { from, to, value, validAfter, validBefore, nonce, signature } }) {
      const { r, s, yParity } = parseSignature(signature as Hex);
      const terms = [from, to, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce];
      const call = { address: usdcAddress, abi: usdc.abi, functionName: "transferWithAuthorization" } as const;
      const sent = chain.client.writeContract({ ...call, args: [...terms, yParity + 27, r, s] });
      await chain.mined(sent).catch(() => {
        throw new Errors.VerificationFailedError({ reason: "the chain refused the transfer" });
      });
      return { reference: await sent };
    },
  });
  return charge;
}

/** A server by HTTP that sells /report and /guarded for 0.25 USDC by MPP alone. /guarded is for signed-in callers. */
export function openMppShop(chain: LocalChain, payTo: Hex): Promise<ListeningServer> {
  const methods = [chargeOn(chain, payTo)] as const;
  const payments = [false, true].map((requiresAuth) => Mppx.create({ methods, secretKey, realm: "shop — 1", requiresAuth }));
  const sell = async (request: Request): Promise<Response> => {
    const isGuarded = new URL(request.url).pathname === "/guarded";
    if (isGuarded && request.headers.get("authorization") !== "Bearer of a guest") return new Response(null, { status: 401 });
    const answer = await payments[Number(isGuarded)]!.evm.charge({ amount: "0.25" })(request);
    return answer.status === 402 ? answer.challenge : answer.withReceipt(new Response("all is well"));
  };
  return listen(createAdaptorServer({ fetch: sell }) as unknown as Server);
}

/**
 * A client of an MCP server that sells its tool `report` for 0.25 USDC by MPP. The server uses mppx, and settles on the local
 * chain.
 */
export async function openMppTools(chain: LocalChain, payTo: Hex): Promise<Client> {
  const charge = chargeOn(chain, payTo);
  const payment = Mppx.create({ methods: [charge], transport: Transport.mcpSdk(), secretKey, realm: "tools.example.com" });
  const server = new McpServer({ name: "mpp-tools", version: "1" });
  server.registerTool("report", {}, async (extra) => {
    const answer = await payment.evm.charge({ amount: "0.25" })(extra);
    if (answer.status === 402) throw answer.challenge;
    return answer.withReceipt({ content: [{ type: "text" as const, text: "all is well" }] });
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "agent", version: "1" });
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  return client;
}
