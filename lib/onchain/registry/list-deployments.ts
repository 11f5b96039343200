import { getAddress } from "viem";
import { log } from "#lib/telemetry/log.ts";
import type { Handler } from "#lib/http/operation.ts";
import { chainOf } from "#lib/chains/chains.ts";
import { chainFailure } from "#lib/chains/client.ts";
import type * as contract from "#lib/onchain/registry/contract.ts";
import { checkedDeployments } from "#lib/onchain/registry/deployments.ts";
import { Problem } from "#lib/problem.ts";

async function deployments() {
  try {
    return await checkedDeployments();
  } catch (error) {
    log().warn({ failure: chainFailure(error) }, "The contracts could not be compared with their chain");
    throw new Problem("rpc_unavailable", {
      detail: "The contracts cannot be compared with their chain now. Ask again in a moment.",
    });
  }
}

export const listDeployments: Handler<typeof contract.listDeployments> = async () => {
  const items = (await deployments()).flatMap((deployment) => {
    const { assets = [], explorerBaseUrl } = chainOf(deployment.chain) ?? {};
    return assets.map(({ tokenAddress, tokenDecimals }) => ({
      chain: deployment.chain,
      contractAddress: deployment.mandateRegistry,
      tokenAddress: getAddress(tokenAddress),
      tokenDecimals,
      paymentModuleAddress: deployment.paymentModule,
      smartPaymentAccountImplementationAddress: deployment.smartPaymentAccount,
      policySignerAddress: deployment.policySigner,
      ...(explorerBaseUrl !== undefined && { explorerBaseUrl }),
    }));
  });
  return { items };
};
