import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import solc from "solc";

const require = createRequire(import.meta.url);

type Output = {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly abi: readonly unknown[];
            readonly evm: {
              readonly bytecode: { readonly object: string };
              readonly deployedBytecode: { readonly object: string };
            };
          }
        >
      >
    >
  >;
};

/** The ABI and the bytecode of one contract, as in its artifact file. */
export type Artifact = {
  readonly contractName: string;
  readonly abi: readonly unknown[];
  readonly bytecode: string;
  readonly deployedBytecode: string;
};

const sources = [
  "HostileToken",
  "MandateRegistry",
  "PaymentModule",
  "SmartPaymentAccount",
  "TestERC1155",
  "TestERC721",
  "TestMulticall",
  "TestUSDC",
];

export const artifactUrl = (name: string): URL => new URL(`./artifacts/${name}.json`, import.meta.url);

/** The metadata hash is left out, so that the same source gives the same bytecode in any folder. */
const settings = {
  optimizer: { enabled: true, runs: 200 },
  evmVersion: "cancun",
  metadata: { bytecodeHash: "none", appendCBOR: false },
  outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
};

/** Compiles every contract of this folder. */
export async function compile(): Promise<readonly Artifact[]> {
  const files = await Promise.all(
    sources.map(
      async (name) => [`${name}.sol`, { content: await readFile(new URL(`./${name}.sol`, import.meta.url), "utf8") }] as const,
    ),
  );
  const input = { language: "Solidity", sources: Object.fromEntries(files), settings };
  const imports = (path: string): { contents: string } => ({ contents: readFileSync(require.resolve(path), "utf8") });
  const output = JSON.parse(solc.compile(JSON.stringify(input), { import: imports }) as string) as Output;
  const failures = (output.errors ?? []).filter((error) => error.severity === "error");
  if (failures.length > 0) throw new Error(failures.map((error) => error.formattedMessage).join("\n"));
  return sources.map((name) => {
    const contract = output.contracts?.[`${name}.sol`]?.[name];
    if (!contract) throw new Error(`${name}.sol has no contract ${name}.`);
    return {
      contractName: name,
      abi: contract.abi,
      bytecode: `0x${contract.evm.bytecode.object}`,
      deployedBytecode: `0x${contract.evm.deployedBytecode.object}`,
    };
  });
}

export const artifactText = (artifact: Artifact): string => `${JSON.stringify(artifact, null, 2)}\n`;

if (import.meta.main) {
  await mkdir(new URL("./artifacts/", import.meta.url), { recursive: true });
  for (const artifact of await compile()) await writeFile(artifactUrl(artifact.contractName), artifactText(artifact));
}
