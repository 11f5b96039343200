import type { Countersign } from "./index.ts";
import type { PayOptions } from "./pay.ts";

type Params = { readonly name: string; readonly _meta?: Readonly<Record<string, unknown>> | undefined };
type Result = { readonly isError?: unknown; readonly structuredContent?: unknown; readonly content?: unknown };

/** A client of either official SDK for TypeScript, or another one with such a function. */
export type ToolCaller<P extends Params, Rest extends unknown[], R> = { callTool(params: P, ...rest: Rest): Promise<R> };

type Json = Readonly<Record<string, unknown>>;
const isRequired = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && "x402Version" in value && "accepts" in value;

/** What a tool asks for, by x402's transport for MCP: in structuredContent, or as JSON in the first text. Null if it asks for nothing. */
function requiredIn({ isError, structuredContent, content }: Result): Json | null {
  if (isError !== true) return null;
  const [first] = Array.isArray(content) ? (content as readonly { readonly text?: unknown }[]) : [];
  let parsed: unknown = null;
  try {
    parsed = JSON.parse(String(first?.text));
  } catch {
    // A message for people.
  }
  const wrapped = [structuredContent, parsed].map(
    (one) => (one as { "x402/error"?: { data?: unknown } } | null)?.["x402/error"]?.data,
  );
  return [structuredContent, parsed, ...wrapped].find(isRequired) ?? null;
}

/**
 * `callTool` of an MCP client that pays if a tool asks for payment by x402, under the mandate of `pay`.
 *
 *     const callTool = payingTools(client, pay, { url: "https://tools.example.com/mcp" });
 *     const result = await callTool({ name: "report", arguments: {} }, { operation: "report-2026-11-24" });
 *
 * `url` is the address of the server; the mandate's policy judges its domain. The second argument has the options of pay.fetch, and the
 * arguments after it are those of the client.
 * @throws the errors of pay.fetch
 */
export function payingTools<P extends Params, Rest extends unknown[], R>(
  client: ToolCaller<P, Rest, R>,
  pay: Countersign,
  { url }: { readonly url: string },
) {
  return async (params: P, paying: PayOptions & { readonly signal?: AbortSignal } = {}, ...rest: Rest): Promise<R> => {
    const unpaid = await client.callTool(params, ...rest);
    const required = requiredIn(unpaid as Result);
    if (!required) return unpaid;
    const credential = await pay.credential(required, { purpose: `The tool ${params.name}`.slice(0, 140), ...paying, url });
    const meta = { ...params._meta, "x402/payment": credential.payload };
    const served = await client.callTool({ ...params, _meta: meta }, ...rest).catch(() => null);
    paying.signal?.throwIfAborted();
    if (served === null || requiredIn(served as Result)) throw await credential.notServed();
    return served;
  };
}
