import { askedByError, askedIn, type Asked } from "./asked.ts";
import type { Countersign } from "./index.ts";
import type { PayOptions } from "./pay.ts";

type Params = { readonly name: string; readonly _meta?: Readonly<Record<string, unknown>> | undefined };

const isFailed = (result: unknown): boolean => (result as { readonly isError?: unknown } | null)?.isError === true;

/** A client of `@modelcontextprotocol/client` or `@modelcontextprotocol/sdk`, or any object with such a `callTool`. */
export type ToolCaller<P extends Params, Rest extends unknown[], R> = { callTool(params: P, ...rest: Rest): Promise<R> };

/**
 * `callTool` of an MCP client that pays if a tool asks for payment by x402, or by MPP's charge on an EVM chain, under the mandate
 * of `pay`.
 *
 *     const callTool = payingTools(client, pay, { url: "https://tools.example.com/mcp" });
 *     const result = await callTool({ name: "report", arguments: {} }, { operation: "report-2026-11-24" });
 *
 * `url` is the address of the server; the mandate's policy checks its domain. The second argument has the options of pay.fetch,
 * and the arguments after it are those of the client.
 * @throws the errors of pay.fetch, and those of the client before a payment. If the tool fails after a payment, `result` of the
 * error is what it returned.
 */
export function payingTools<P extends Params, Rest extends unknown[], R>(
  client: ToolCaller<P, Rest, R>,
  pay: Countersign,
  { url }: { readonly url: string },
) {
  const call = (params: P, rest: Rest): Promise<{ readonly result: R | null; readonly asked: Asked | null }> =>
    client.callTool(params, ...rest).then(
      (result) => ({ result, asked: askedIn(result) }),
      (error: unknown) => {
        const asked = askedByError(error);
        if (asked) return { result: null, asked };
        throw error;
      },
    );
  return async (params: P, paying: PayOptions & { readonly signal?: AbortSignal } = {}, ...rest: Rest): Promise<R> => {
    const { result: unpaid, asked } = await call(params, rest);
    if (!asked) return unpaid as R;
    const purpose = [...`The tool ${params.name}`].slice(0, 140).join("");
    const credential = await pay.credential(asked.required, { purpose, ...paying, url });
    const meta = { ...params._meta, [asked.field]: credential.payload };
    const served = await call({ ...params, _meta: meta }, rest).catch((cause: unknown) => ({ cause }));
    paying.signal?.throwIfAborted();
    if ("cause" in served) throw await credential.notServed(served);
    if (!served.result || served.asked || isFailed(served.result)) throw await credential.notServed({ result: served.result });
    return served.result;
  };
}
