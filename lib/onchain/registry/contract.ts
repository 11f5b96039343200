import { z } from "zod";
import { operation } from "#lib/http/operation.ts";

const Address = z.string().meta({ description: "An EVM address with its checksum." });

export const OnchainDeployment = z
  .object({
    chain: z.string().meta({ description: "CAIP-2." }),
    contractAddress: Address.meta({ description: "The registry of mandates." }),
    tokenAddress: Address,
    tokenDecimals: z.int(),
    paymentModuleAddress: Address,
    smartPaymentAccountImplementationAddress: Address.meta({
      description: "The contract to which a buyer's account delegates by EIP-7702.",
    }),
    policySignerAddress: Address,
    explorerBaseUrl: z.url().optional(),
  })
  .meta({ id: "OnchainDeployment" });
export type OnchainDeployment = z.infer<typeof OnchainDeployment>;

export const listDeployments = operation({
  id: "listDeployments",
  method: "GET",
  path: "/api/v1/onchain/deployments",
  tag: "Onchain",
  summary: "List the contracts that hold the hard limits of mandates",
  description:
    "One item for each chain with contracts and each of its assets. The listed contracts were compared with the chain: their code is deployed, and they have the addresses of each other and of the policy signer. prepareRegistration and registerMandate register a mandate there.",
  access: "authenticated",
  response: z.object({ items: z.array(OnchainDeployment) }).meta({ id: "OnchainDeploymentList" }),
  problems: ["rpc_unavailable"],
  example: {
    response: {
      items: [
        {
          chain: "eip155:84532",
          contractAddress: "0x5FbDB2315678afecb367f032d93F642f64180aa3",
          tokenAddress: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
          tokenDecimals: 6,
          paymentModuleAddress: "0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512",
          smartPaymentAccountImplementationAddress: "0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0",
          policySignerAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
          explorerBaseUrl: "https://sepolia.basescan.org",
        },
      ],
    },
  },
});
