import {
  decodeFunctionResult,
  encodeFunctionData,
  getAddress,
  isAddressEqual,
  parseAbi,
  size,
  type Address,
  type PublicClient,
} from "viem";
import { commandFor } from "#lib/process.ts";
import { env, type ChainConfiguration } from "#lib/env.ts";
import { log } from "#lib/telemetry/log.ts";
import { chainOf } from "#lib/chains/chains.ts";
import { chainFailure, chainReverted, publicClient } from "#lib/chains/client.ts";
import { guardianAccount } from "#lib/onchain/keys.ts";
import { Problem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";

/** The configured addresses of the contracts on one chain, and of the key that signs payments for them (the policy signer). */
export type Deployment = {
  readonly chain: string;
  readonly mandateRegistry: Address;
  readonly paymentModule: Address;
  readonly smartPaymentAccount: Address;
  readonly policySigner: Address;
};

const abi = parseAbi([
  "function registry() view returns (address)",
  "function module() view returns (address)",
  "function policySigner() view returns (address)",
  "function guardian() view returns (address)",
]);
type ContractField = (typeof abi)[number]["name"];

/** Thrown if the contracts on the chain differ from the configuration. The service must then not use them. */
export class OtherContracts extends Error {}

const deploymentOf = ({ chain, contracts }: ChainConfiguration): Deployment[] =>
  contracts
    ? [
        {
          chain,
          mandateRegistry: getAddress(contracts.mandateRegistry),
          paymentModule: getAddress(contracts.paymentModule),
          smartPaymentAccount: getAddress(contracts.smartPaymentAccount),
          policySigner: getAddress(contracts.policySigner),
        },
      ]
    : [];

/** Null if no contracts are configured for the chain. */
export function deploymentAt(chain: string): Deployment | null {
  const configuration = chainOf(chain);
  return configuration ? (deploymentOf(configuration)[0] ?? null) : null;
}

export function deploymentOn(chain: string): Deployment {
  const deployment = deploymentAt(chain);
  if (!deployment) throw new Error(`The contracts of ${chain} are no longer configured.`);
  return deployment;
}

/** Null for a contract of another kind, which has no such function. @throws viem's error if the chain does not answer */
async function addressFrom(client: PublicClient, to: Address, functionName: ContractField): Promise<Address | null> {
  const call = client.call({ to, data: encodeFunctionData({ abi, functionName }) });
  const { data } = await call.catch((error: unknown) => {
    if (chainReverted(error)) return { data: undefined };
    throw error;
  });
  return data !== undefined && size(data) === 32 ? decodeFunctionResult({ abi, functionName, data }) : null;
}

/** If a contract is missing, returns only what is missing. @throws viem's error if the chain does not answer */
async function differences({ chain, ...contracts }: Deployment): Promise<readonly string[]> {
  const client = publicClient(chain);
  const { mandateRegistry, paymentModule, smartPaymentAccount, policySigner } = contracts;
  const named = (["mandateRegistry", "paymentModule", "smartPaymentAccount"] as const).map(async (name) => {
    const code = await client.getCode({ address: contracts[name] });
    return code === undefined || code === "0x" ? [`${chain} has no code at the ${name} ${contracts[name]}`] : [];
  });
  const empty = (await Promise.all(named)).flat();
  if (empty.length > 0) return empty;
  const compare = async (name: string, address: Address, functionName: ContractField, configured: Address) => {
    const found = await addressFrom(client, address, functionName);
    if (found === null) return [`on ${chain} the contract ${address} does not say what the ${name} is`];
    return isAddressEqual(found, configured) ? [] : [`on ${chain} the ${name} is ${found}, not ${configured}`];
  };
  const compared = await Promise.all([
    compare("paymentModule's registry", paymentModule, "registry", mandateRegistry),
    compare("smartPaymentAccount's registry", smartPaymentAccount, "registry", mandateRegistry),
    compare("smartPaymentAccount's module", smartPaymentAccount, "module", paymentModule),
    compare("policySigner", mandateRegistry, "policySigner", policySigner),
    compare("guardian", mandateRegistry, "guardian", guardianAccount().address),
  ]);
  return compared.flat();
}

const otherContracts = (found: readonly string[]): string =>
  [
    "The contracts in CHAINS are not the ones on the chain:",
    ...found.map((one) => `  ${one}`),
    `Write what ${commandFor("chain:deploy")} printed into CHAINS, and give the keys whose addresses it was run with.`,
  ].join("\n");

const checkedChains = (): Set<string> => perProcess("onchain/registry/deployments", () => new Set());

async function compareOnce(deployment: Deployment): Promise<void> {
  if (checkedChains().has(deployment.chain)) return;
  const found = await differences(deployment);
  if (found.length > 0) throw new OtherContracts(otherContracts(found));
  checkedChains().add(deployment.chain);
}

/** Compares each chain's contracts, once per process if that succeeds. @throws OtherContracts, or viem's error */
export async function checkedDeployments(): Promise<readonly Deployment[]> {
  const deployments = env().CHAINS.flatMap(deploymentOf);
  for (const deployment of deployments) await compareOnce(deployment);
  return deployments;
}

/**
 * Call this before the contracts of a chain are used, because the chain may have been silent at startup. Asks the chain until one
 * comparison succeeds. @throws Problem rpc_unavailable if the contracts are others, or viem's error if the chain does not answer
 */
export async function requireSameContracts(chain: string): Promise<void> {
  try {
    await compareOnce(deploymentOn(chain));
  } catch (error) {
    if (!(error instanceof OtherContracts)) throw error;
    log().error({ chain }, error.message);
    throw new Problem("rpc_unavailable", {
      detail:
        "The contracts on the chain are not the ones in the service's configuration, so nothing was signed or sent. The operator of the service must correct it.",
    });
  }
}

/** At startup. If a chain does not answer, its contracts are compared before their first use. */
export async function refuseOtherContracts(): Promise<void> {
  // Read the configuration first, so that its errors are not mistaken for a chain that does not answer.
  env();
  try {
    await checkedDeployments();
  } catch (error) {
    if (error instanceof OtherContracts) throw error;
    log().warn({ failure: chainFailure(error) }, "The contracts could not be compared with their chain yet");
  }
}
