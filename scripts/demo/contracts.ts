import type { Abi, Address, Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import registryArtifact from "../../contracts/artifacts/MandateRegistry.json" with { type: "json" };
import moduleArtifact from "../../contracts/artifacts/PaymentModule.json" with { type: "json" };
import accountArtifact from "../../contracts/artifacts/SmartPaymentAccount.json" with { type: "json" };
import type { LocalChain } from "../../examples/chain.ts";

/** The addresses of the contracts, for the entry of the chain in CHAINS, and the keys that the service uses on the chain. */
export type Contracts = {
  readonly configuration: Readonly<Record<string, string>>;
  readonly keys: Readonly<Record<"RELAYER_PRIVATE_KEY" | "GUARDIAN_PRIVATE_KEY" | "POLICY_SIGNER_PRIVATE_KEY", Hex>>;
};

/**
 * Deploys the mandate contracts on the demo's chain. The keys are new for each run: the database may still contain transactions
 * of the keys of an earlier run, and their nonces do not fit the new chain, on which nonces start at 0.
 */
export async function deployContracts(chain: LocalChain): Promise<Contracts> {
  const keys = {
    RELAYER_PRIVATE_KEY: generatePrivateKey(),
    GUARDIAN_PRIVATE_KEY: generatePrivateKey(),
    POLICY_SIGNER_PRIVATE_KEY: generatePrivateKey(),
  };
  const guardian = privateKeyToAddress(keys.GUARDIAN_PRIVATE_KEY);
  const policySigner = privateKeyToAddress(keys.POLICY_SIGNER_PRIVATE_KEY);
  const deploy = async (artifact: { abi: unknown; bytecode: string }, args: readonly Address[]): Promise<Address> => {
    const hash = await chain.client.deployContract({ abi: artifact.abi as Abi, bytecode: artifact.bytecode as Hex, args });
    const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash });
    if (!contractAddress) throw new Error("A contract was not deployed.");
    return contractAddress;
  };
  const administrator = privateKeyToAddress(generatePrivateKey());
  const mandateRegistry = await deploy(registryArtifact, [guardian, administrator, policySigner]);
  const paymentModule = await deploy(moduleArtifact, [mandateRegistry]);
  const smartPaymentAccount = await deploy(accountArtifact, [mandateRegistry, paymentModule]);
  for (const sender of [guardian, privateKeyToAddress(keys.RELAYER_PRIVATE_KEY)]) await chain.fund(sender);
  return { configuration: { mandateRegistry, paymentModule, smartPaymentAccount, policySigner }, keys };
}
