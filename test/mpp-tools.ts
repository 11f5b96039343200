import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Errors } from "mppx";
import { evm, Mppx, Transport } from "mppx/server";
import { parseSignature, type Hex } from "viem";
import usdc from "../contracts/artifacts/TestUSDC.json" with { type: "json" };
import { usdcAddress, type LocalChain } from "../examples/chain.ts";

/**
 * A client of an MCP server that sells its tool `report` for 0.25 USDC by MPP. The server uses mppx, and settles on the local
 * chain.
 */
export async function openMppTools(chain: LocalChain, payTo: Hex): Promise<Client> {
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
  const secretKey = "a key of this test, and of no other one";
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
