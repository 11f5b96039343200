/**
 * `npm run chain:deploy`: deploys the mandate contracts on an EVM chain and prints the entry for CHAINS. The deployer's key is read
 * from the environment, so that it does not appear in process lists.
 */
import { parseArgs } from "node:util";
import {
  createPublicClient,
  createWalletClient,
  formatEther,
  getAddress,
  http,
  isAddress,
  type Abi,
  type Address,
  type Hex,
  type TransactionReceipt,
} from "viem";
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { commandFor, isPackaged } from "#lib/process.ts";
import { provideSecrets } from "#lib/installation/secrets.ts";
import registryArtifact from "../contracts/artifacts/MandateRegistry.json" with { type: "json" };
import moduleArtifact from "../contracts/artifacts/PaymentModule.json" with { type: "json" };
import accountArtifact from "../contracts/artifacts/SmartPaymentAccount.json" with { type: "json" };

const usage = `Usage: DEPLOYER_PRIVATE_KEY=0x… ${commandFor("chain:deploy")}${isPackaged() ? "" : " --"} --rpc-url URL --administrator 0x… \\
  [--guardian 0x… --policy-signer 0x…]

The guardian may revoke mandates, the administrator may propose another policy signer, and the policy signer makes
proofs and payments within registered mandates. Use three different keys. Guardian and policy signer are those of
GUARDIAN_PRIVATE_KEY and POLICY_SIGNER_PRIVATE_KEY unless you name others; a sandbox has made them in its DATA_DIR.`;

const { values } = parseArgs({
  options: {
    "rpc-url": { type: "string" },
    guardian: { type: "string" },
    administrator: { type: "string" },
    "policy-signer": { type: "string" },
  },
});

function fail(message: string): never {
  console.error(`${message}\n\n${usage}`);
  process.exit(2);
}

const isKey = (text: string): text is Hex => /^0x[0-9a-fA-F]{64}$/.test(text);

/** The address of the private key in this variable of the environment or of a sandbox's DATA_DIR; undefined if it has none. */
async function ourAddress(name: string): Promise<Address | undefined> {
  if (!process.env[name]) await provideSecrets(process.env);
  const key = process.env[name] ?? "";
  return isKey(key) ? privateKeyToAddress(key) : undefined;
}

const keys = { guardian: "GUARDIAN_PRIVATE_KEY", "policy-signer": "POLICY_SIGNER_PRIVATE_KEY", administrator: null } as const;

async function addressOf(name: keyof typeof keys): Promise<Address> {
  const key = keys[name];
  const given = values[name] ?? (key && (await ourAddress(key)));
  if (!given || !isAddress(given)) fail(`--${name} must be an EVM address.`);
  return getAddress(given);
}

const key = process.env["DEPLOYER_PRIVATE_KEY"] ?? "";
const rpcUrl = values["rpc-url"] ?? fail("--rpc-url is missing.");
if (!isKey(key)) fail("DEPLOYER_PRIVATE_KEY must be a 32-byte key in hexadecimal.");
const administrator = await addressOf("administrator");
const guardian = await addressOf("guardian");
const policySigner = await addressOf("policy-signer");
if (new Set([guardian, administrator, policySigner].map((one) => one.toLowerCase())).size < 3)
  fail("Guardian, administrator and policy signer must be three different keys.");

const transport = http(rpcUrl, { timeout: 20_000 });
const chain = createPublicClient({ transport, pollingInterval: 500 });
const account = privateKeyToAccount(key);
const wallet = createWalletClient({ account, transport });
const chainId = await chain.getChainId();
console.error(`Chain eip155:${chainId}, deployer ${account.address}.`);

let spent = 0n;

async function deploy(name: string, artifact: { abi: unknown; bytecode: string }, args: readonly unknown[]): Promise<Address> {
  const hash = await wallet.deployContract({ chain: null, abi: artifact.abi as Abi, bytecode: artifact.bytecode as Hex, args });
  console.error(`${name}: waiting for ${hash}`);
  const receipt: TransactionReceipt = await chain.waitForTransactionReceipt({ hash, timeout: 300_000 });
  if (receipt.status !== "success" || !receipt.contractAddress) throw new Error(`${name} was not deployed: ${hash}`);
  spent += receipt.gasUsed * receipt.effectiveGasPrice;
  console.error(`${name}: ${receipt.contractAddress}, ${receipt.gasUsed} gas`);
  return getAddress(receipt.contractAddress);
}

const mandateRegistry = await deploy("MandateRegistry", registryArtifact, [guardian, administrator, policySigner]);
const paymentModule = await deploy("PaymentModule", moduleArtifact, [mandateRegistry]);
const smartPaymentAccount = await deploy("SmartPaymentAccount", accountArtifact, [mandateRegistry, paymentModule]);
console.error(`Spent ${formatEther(spent)} of the chain's own currency.`);
console.error(`The guardian ${guardian} and the relayer need some of it for gas. Put this into the chain's entry of CHAINS:`);
console.log(JSON.stringify({ contracts: { mandateRegistry, paymentModule, smartPaymentAccount, policySigner } }));
