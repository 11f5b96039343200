import { execFile, spawn, type ChildProcess } from "node:child_process";
import { copyFile, mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import sdk from "../../sdk/package.json" with { type: "json" };

/* The package `countersign` as its users get it: packed, installed into an empty folder, and run in processes of their own. */

const root = join(import.meta.dirname, "../..");
export const run = promisify(execFile);

/** The environment without the variables npm_* that npm sets for a script, because they name this repository. */
export const plain = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith("npm_")));

const examples = ["agent.ts", "mcp-agent.ts", "ai-agent.ts", "webhook-receiver.ts"];
const peers = ["viem", "@x402/core", "@x402/evm", "@modelcontextprotocol/client", "ai", "@types/node"];

/** The program that runs an example. It kills its own process when the answer with the given number arrives. */
const runner = `
let answers = 0;
const send = globalThis.fetch;
globalThis.fetch = async (...asked) => {
  const answer = await send(...asked);
  answers += 1;
  if (answers === Number(process.env.KILLED_AT)) process.kill(process.pid, "SIGKILL");
  return answer;
};
console.error = console.log;
try {
  await import("./js/" + process.env.EXAMPLE + ".js");
} catch (error) {
  console.log(error.name, error.execution?.settlementStatus, typeof error.receipt?.receipt);
}
console.log(answers);
`;

/** A fake language model. It calls its only tool with the address in the prompt, and then says what the tool returned. */
const model = `
import { MockLanguageModelV4 } from "ai/test";
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const doGenerate = async ({ prompt, tools: [tool] }) => {
  const { role, content: [part] } = prompt.at(-1);
  if (role === "tool") {
    const content = [{ type: "text", text: JSON.stringify(part.output.value) }];
    return { content, usage, warnings: [], finishReason: { unified: "stop" } };
  }
  const input = JSON.stringify({ url: /http\\S+/.exec(part.text)[0], purpose: "a test" });
  const content = [{ type: "tool-call", toolCallId: "call-1", toolName: tool.name, input }];
  return { content, usage, warnings: [], finishReason: { unified: "tool-calls" } };
};
globalThis.AI_SDK_DEFAULT_PROVIDER = {
  specificationVersion: "v4",
  languageModel: () => new MockLanguageModelV4({ doGenerate }),
};
`;

/**
 * Installs the packed package, links the packages that the examples import, so that nothing is read from a registry, and compiles
 * the examples with its types. Returns the folder.
 */
export async function installPackage(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-package-"));
  const npm = (command: readonly string[], cwd: string) => {
    const options = ["--offline", "--no-audit", "--no-fund", "--ignore-scripts=false", "--cache", join(folder, ".npm")];
    return run("npm", [...command, ...options], { cwd, env: { ...plain, NODE_ENV: "test" } });
  };
  await npm(["pack", "--pack-destination", folder], join(root, "sdk"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  await npm(["install", `./countersign-${sdk.version}.tgz`, "--legacy-peer-deps"], folder);
  for (const peer of peers) {
    const link = join(folder, "node_modules", peer);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(root, "node_modules", peer), link);
  }
  for (const example of examples) await copyFile(join(root, "examples", example), join(folder, example));
  const compilerOptions = {
    strict: true,
    module: "nodenext",
    target: "es2023",
    types: ["node"],
    skipLibCheck: true,
    outDir: "js",
  };
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: examples }));
  await writeFile(join(folder, "run.mjs"), runner);
  await writeFile(join(folder, "model.mjs"), model);
  await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "--project", folder]);
  return folder;
}

export type Run = { readonly signal: NodeJS.Signals | null; readonly lines: readonly string[] };

/** The lines that a process writes until it ends, and the signal that ended it. */
export async function linesOf(child: ChildProcess): Promise<Run> {
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const signal = await new Promise<NodeJS.Signals | null>((resolve) => child.once("close", (_, by) => resolve(by)));
  return { signal, lines: said.trim().split("\n") };
}

export type Launch = {
  readonly env: Readonly<Record<string, string>>;
  readonly node?: string;
  readonly imports?: readonly string[];
};

export function startExample(folder: string, name: string, line: readonly string[], launch: Launch): ChildProcess {
  const { env, node = process.execPath, imports = [] } = launch;
  return spawn(node, [...imports.map((file) => `--import=./${file}`), "run.mjs", ...line], {
    cwd: folder,
    env: { ...plain, NODE_ENV: "production", NODE_OPTIONS: "", EXAMPLE: name, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** The path of the first Node 20 in PATH; null if there is none. */
export async function olderNode(): Promise<string | null> {
  for (const directory of (process.env["PATH"] ?? "").split(delimiter)) {
    const node = join(directory, "node");
    const version = await run(node, ["--version"]).then(
      ({ stdout }) => stdout,
      () => "",
    );
    if (version.startsWith("v20.")) return node;
  }
  return null;
}
