import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { generatePrivateKey, privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import * as contract from "#lib/onchain/registry/contract.ts";
import { listDeployments } from "#lib/onchain/registry/list-deployments.ts";
import { refuseOtherContracts } from "#lib/onchain/registry/deployments.ts";
import { forget } from "#lib/process.ts";
import { usdcAddress, useChain } from "#test/chain.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import { createAgent, createOrganization, send, type Credential } from "#test/tenant.ts";

useDatabase();
const chain = useChain();
const root = join(import.meta.dirname, "../../..");
const anyAddress = () => privateKeyToAddress(generatePrivateKey());

type Contracts = Record<"mandateRegistry" | "paymentModule" | "smartPaymentAccount" | "policySigner", string>;
let deployed: Contracts;
let as: Credential;

const deploy = async (change: Record<string, string> = {}) => {
  const deployer = generatePrivateKey();
  await chain().fund(privateKeyToAccount(deployer).address);
  const given = {
    "rpc-url": chain().rpcUrl,
    administrator: anyAddress(),
    ...change,
  };
  const options = Object.entries(given).flatMap(([name, value]) => [`--${name}`, value]);
  const env = { ...process.env, DEPLOYER_PRIVATE_KEY: deployer };
  return promisify(execFile)(process.execPath, [join(root, "scripts/deploy.ts"), ...options], { env });
};

function configure(contracts?: Contracts, rpcUrl = chain().rpcUrl): void {
  const usdc = { asset: "USDC", tokenAddress: usdcAddress, tokenName: "USDC", tokenVersion: "2", tokenDecimals: 6 };
  process.env["CHAINS"] = JSON.stringify([
    {
      chain: CHAIN,
      rpcUrl,
      confirmations: 0,
      assets: [usdc],
      explorerBaseUrl: "https://sepolia.basescan.org",
      ...(contracts && { contracts }),
    },
  ]);
  forget("env", `chains/client ${CHAIN}`, "onchain/registry/deployments");
}

beforeAll(async () => {
  as = (await createAgent(await createOrganization(), [])).credential;
  const { stdout } = await deploy();
  deployed = (JSON.parse(stdout) as { contracts: Contracts }).contracts;
});
beforeEach(() => configure(deployed));

const list = () => send(contract.listDeployments, listDeployments, { as });

describe("listDeployments", () => {
  it("200 lists the contracts that the deploy script deployed with the service's keys, for each asset", async () => {
    const { status, data } = await list();
    expect([status, data]).toEqual([
      200,
      {
        items: [
          {
            chain: CHAIN,
            contractAddress: deployed.mandateRegistry,
            tokenAddress: usdcAddress,
            tokenDecimals: 6,
            paymentModuleAddress: deployed.paymentModule,
            smartPaymentAccountImplementationAddress: deployed.smartPaymentAccount,
            policySignerAddress: deployed.policySigner,
            explorerBaseUrl: "https://sepolia.basescan.org",
          },
        ],
      },
    ]);
  });

  it("200 lists nothing if no contracts are configured", async () => {
    configure();
    expect((await list()).data).toEqual({ items: [] });
  });

  it("502 while the chain does not answer, and the service starts nevertheless", async () => {
    configure(deployed, "http://127.0.0.1:9");
    expect((await list()).problem.code).toBe("rpc_unavailable");
    await refuseOtherContracts();
  });

  it.each(["mandateRegistry", "paymentModule", "smartPaymentAccount", "policySigner"] as const)(
    "a start with another %s is refused",
    async (name) => {
      configure({ ...deployed, [name]: anyAddress() });
      await expect(refuseOtherContracts()).rejects.toThrow(name);
    },
  );

  it("all differences are reported at once", async () => {
    const { contracts } = JSON.parse((await deploy({ guardian: anyAddress() })).stdout) as { contracts: Contracts };
    configure({ ...deployed, mandateRegistry: contracts.mandateRegistry });
    const said = await refuseOtherContracts().catch((error: Error) => error.message);
    for (const what of ["paymentModule's registry", "smartPaymentAccount's registry", "guardian"])
      expect(said).toContain(`the ${what} is`);
  });

  it("contracts of two deployments are refused", async () => {
    const other = JSON.parse((await deploy()).stdout) as { contracts: Contracts };
    configure({ ...deployed, paymentModule: other.contracts.paymentModule });
    await expect(refuseOtherContracts()).rejects.toThrow("paymentModule's registry");
  });

  it("a contract of another kind is refused", async () => {
    configure({ ...deployed, smartPaymentAccount: deployed.paymentModule });
    await expect(refuseOtherContracts()).rejects.toThrow("does not say what the smartPaymentAccount's module is");
  });

  it.each([
    ["guardian", { guardian: anyAddress() }, "the guardian is"],
    ["policy signer", { "policy-signer": anyAddress() }, "POLICY_SIGNER_PRIVATE_KEY must be the key"],
  ])("contracts with another %s are refused", async (_name, change, message) => {
    const { contracts } = JSON.parse((await deploy(change)).stdout) as { contracts: Contracts };
    configure(contracts);
    await expect(refuseOtherContracts()).rejects.toThrow(message);
  });
});

describe("npm run chain:deploy", () => {
  it.each([
    [{ guardian: "0x12" }, "--guardian must be an EVM address"],
    [
      { guardian: "0x00000000000000000000000000000000000000aa", administrator: "0x00000000000000000000000000000000000000aa" },
      "three different keys",
    ],
  ])("refuses %j", async (change, message) => {
    await expect(deploy(change as Record<string, string>)).rejects.toThrow(message);
  });
});
