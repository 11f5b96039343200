import { createInterface } from "node:readline";
import { fetchWithin, partsOf, wholeText } from "../bounded.ts";
import { SERVICE_LIMITS, SERVICE_MS } from "../service.ts";
import { untilStopped } from "./arguments.ts";
import { payHere } from "./pay-here.ts";
import { access, walletOf, type Saved } from "./settings.ts";

/** The maximum number of messages without an answer. A client that sends more must wait. */
const UNDER_WAY = 32;
const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";

type Json = Readonly<Record<string, unknown>>;
export type Message = Json & {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Json & { readonly _meta?: Json };
  readonly result?: Json & { readonly protocolVersion?: unknown };
};

type Bridge = {
  readonly url: string;
  readonly apiKey: string;
  /** The protocol version from the handshake of a client of 2025. Newer clients name the version in each message instead. */
  version: string | undefined;
  readonly open: Map<string | number, AbortController>;
  readonly payHere: ReturnType<typeof payHere> | null;
};

const isAscii = (text: unknown): text is string => typeof text === "string" && /^[\x21-\x7e]+$/.test(text);

/** Newer protocol versions repeat parts of the message in headers. */
function headersOf({ apiKey, version }: Bridge, { method, params = {} }: Message): Record<string, string> {
  const named = params["name"] ?? params["uri"];
  const own = params._meta?.[VERSION_KEY];
  return {
    authorization: `Bearer ${apiKey}`,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...(typeof own === "string"
      ? {
          "mcp-protocol-version": own,
          ...(method !== undefined && { "mcp-method": method }),
          ...(isAscii(named) && { "mcp-name": named }),
        }
      : version !== undefined && { "mcp-protocol-version": version }),
  };
}

/** The messages of an answer: one message in JSON, or the messages of an event stream as they arrive. */
async function* messagesOf(response: Response): AsyncGenerator<Message> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    const text = await wholeText(response, SERVICE_LIMITS);
    if (text !== "") yield JSON.parse(text) as Message;
    return;
  }
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of partsOf(response, SERVICE_LIMITS)) {
    const blocks = (rest + decoder.decode(part, { stream: true })).replaceAll("\r\n", "\n").split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const data = block.split("\n").flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trimStart()] : []));
      if (data.length > 0 && data.join("") !== "") yield JSON.parse(data.join("\n")) as Message;
    }
  }
}

const write = (message: Message): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

/** An answer of the HTTP API, such as a problem for a wrong key, as an error of JSON-RPC. */
function asError(id: string | number, answer: Json, status: number): Message {
  const text = typeof answer["detail"] === "string" ? answer["detail"] : `The service answered ${status}.`;
  return { jsonrpc: "2.0", id, error: { code: -32_603, message: text, data: answer } };
}

async function forward(bridge: Bridge, message: Message, signal: AbortSignal): Promise<void> {
  const { id } = message;
  const init = { method: "POST", headers: headersOf(bridge, message), body: JSON.stringify(message), signal } as const;
  const response = await fetchWithin(SERVICE_MS, fetch, `${bridge.url}/mcp`, { ...init, redirect: "error" });
  let isAnswered = id === undefined || message.method === undefined;
  for await (const answer of messagesOf(response)) {
    if (answer["jsonrpc"] !== "2.0") {
      if (id !== undefined) write(asError(id, answer, response.status));
      isAnswered = true;
    } else {
      isAnswered ||= answer.method === undefined && answer.id === id;
      const { protocolVersion } = answer.result ?? {};
      if (message.method === "initialize" && typeof protocolVersion === "string") bridge.version = protocolVersion;
      write((await bridge.payHere?.(message, answer, signal)) ?? answer);
    }
  }
  if (!isAnswered) throw new Error("its reply ended without an answer.");
}

/** Sends one message to the service and writes the answer to stdout. Never throws. */
async function handle(bridge: Bridge, message: Message): Promise<void> {
  const { id, method, params } = message;
  const stop = new AbortController();
  if (method === "notifications/cancelled") bridge.open.get(params?.["requestId"] as string)?.abort();
  if (method !== undefined && id !== undefined) bridge.open.set(id, stop);
  try {
    await forward(bridge, message, stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return;
    console.error(`The service at ${bridge.url} did not answer:`, error instanceof Error ? error.message : error);
    if (method !== undefined && id !== undefined)
      write({
        jsonrpc: "2.0",
        id,
        error: { code: -32_603, message: "The service did not answer. Call again with the same arguments." },
      });
  } finally {
    if (id !== undefined) bridge.open.delete(id);
  }
}

function parse(line: string): Message | null {
  try {
    return JSON.parse(line) as Message;
  } catch {
    write({ jsonrpc: "2.0", id: null as never, error: { code: -32_700, message: "This line is not JSON." } });
    return null;
  }
}

/**
 * An MCP server on stdin and stdout. It forwards messages to the service with the API key, until stdin ends or the user stops
 * the program.
 */
export async function bridge(): Promise<null> {
  const saved: Saved = await access();
  const wallet = await walletOf();
  const open = new Map<string | number, AbortController>();
  const on: Bridge = { ...saved, version: undefined, open, payHere: wallet && payHere(saved, wallet) };
  const underWay = new Set<Promise<void>>();
  const lines = createInterface({ input: process.stdin, signal: untilStopped() });
  for await (const line of lines) {
    const message = line.trim() === "" ? null : parse(line);
    if (!message) continue;
    const work: Promise<void> = handle(on, message).finally(() => underWay.delete(work));
    underWay.add(work);
    // The handshake of protocol 2025 (initialize) sets the version for all later messages, so they wait for its answer.
    if (message.method === "initialize") await work;
    else if (underWay.size >= UNDER_WAY) await Promise.race(underWay);
  }
  await Promise.all(underWay);
  return null;
}
