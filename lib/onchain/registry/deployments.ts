import { getAddress, isAddressEqual, parseAbi, type Address } from "viem";
import { env, type ChainConfiguration } from "#lib/env.ts";
import { log } from "#lib/telemetry/log.ts";
import { chainOf } from "#lib/chains/chains.ts";
import { chainFailure, publicClient } from "#lib/chains/client.ts";
import { guardianAccount } from "#lib/onchain/keys.ts";
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

/** The contracts of a chain, as they are configured; null where there are none. */
export function deploymentAt(chain: string): Deployment | null {
  const configuration = chainOf(chain);
  return configuration ? (deploymentOf(configuration)[0] ?? null) : null;
}

/** The contracts of a chain on which mandates are registered. @throws if these contracts are no longer configured */
export function deploymentOn(chain: string): Deployment {
  const deployment = deploymentAt(chain);
  if (!deployment) throw new Error(`The contracts of ${chain} are no longer configured.`);
  return deployment;
}

/**
 * Checks that the contracts exist, and that the addresses stored in them are those of the configuration. Returns all
 * differences; if a contract is missing, only what is missing. @throws viem's error if the chain does not answer
 */
async function differences({ chain, ...contracts }: Deployment): Promise<readonly string[]> {
  const client = publicClient(chain);
  const { mandateRegistry, paymentModule, smartPaymentAccount, policySigner } = contracts;
  const named = (["mandateRegistry", "paymentModule", "smartPaymentAccount"] as const).map(async (name) => {
    const code = await client.getCode({ address: contracts[name] });
    return code === undefined || code === "0x" ? [`${chain} has no code at the ${name} ${contracts[name]}`] : [];
  });
  const empty = (await Promise.all(named)).flat();
  if (empty.length > 0) return empty;
  const ask = (address: Address, functionName: "registry" | "module" | "policySigner" | "guardian") =>
    client.readContract({ address, abi, functionName });
  const asked = await Promise.all([
    ask(paymentModule, "registry"),
    ask(smartPaymentAccount, "registry"),
    ask(smartPaymentAccount, "module"),
    ask(mandateRegistry, "policySigner"),
    ask(mandateRegistry, "guardian"),
  ]);
  const meant = [mandateRegistry, mandateRegistry, paymentModule, policySigner, guardianAccount().address];
  const names = [
    "paymentModule's registry",
    "smartPaymentAccount's registry",
    "smartPaymentAccount's module",
    "policySigner",
    "guardian",
  ];
  return asked.flatMap((found, index) =>
    isAddressEqual(found, meant[index]!) ? [] : [`on ${chain} the ${names[index]} is ${found}, not ${meant[index]}`],
  );
}

const otherContracts = (found: readonly string[]): string =>
  [
    "The contracts in CHAINS are not the ones on the chain:",
    ...found.map((one) => `  ${one}`),
    "Write what npm run chain:deploy printed into CHAINS, and give the keys whose addresses it was run with.",
  ].join("\n");

const checkedChains = (): Set<string> => perProcess("checkedDeployments", () => new Set());

/**
 * The configured contracts of all chains. In each process they are compared with the contracts on the chain until one
 * comparison has succeeded for the chain.
 * @throws OtherContracts, or viem's error if a chain does not answer
 */
export async function checkedDeployments(): Promise<readonly Deployment[]> {
  const deployments = env().CHAINS.flatMap(deploymentOf);
  for (const deployment of deployments) {
    if (checkedChains().has(deployment.chain)) continue;
    const found = await differences(deployment);
    if (found.length > 0) throw new OtherContracts(otherContracts(found));
    checkedChains().add(deployment.chain);
  }
  return deployments;
}

/**
 * Called at startup. Wrong contracts stop the service. If a chain does not answer, the contracts that were not compared yet are
 * compared at their next use.
 */
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
