import { readFile } from "node:fs/promises";
import { textOf } from "../bounded.ts";
import { parseJson } from "../parse-json.ts";
import { isHttp, publishedKeys } from "../service.ts";
import { verifyReceipt } from "../verify-receipt.ts";
import { WrongUse, type Said, type Values } from "./arguments.ts";
import { openPage } from "./open-page.ts";
import { client, serviceUrl, waiting } from "./settings.ts";

const ANSWER_LIMITS = { bytes: 1 << 26, milliseconds: 600_000 };

function headersOf(lines: readonly string[]): Headers {
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new WrongUse(`Write a header as "Name: value", not ${line}.`);
    try {
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    } catch {
      throw new WrongUse(`HTTP does not allow the header ${line}.`);
    }
  }
  return headers;
}

function requestOf(url: string, init: RequestInit): Request {
  try {
    return new Request(url, init);
  } catch (error) {
    throw new WrongUse(`HTTP does not allow this request: ${(error as Error).message}`);
  }
}

export async function pay(url: string, values: Values): Promise<Said> {
  if (url === "") throw new WrongUse("Name the URL to pay for.");
  if (!isHttp(url)) throw new WrongUse(`The URL to pay for must begin with http:// or https://. ${url} does not.`);
  const { operation, data, header = [], method = data === undefined ? "GET" : "POST" } = values;
  const request = requestOf(url, { method, headers: headersOf(header), ...(data !== undefined && { body: data }) });
  const paying = await client(waiting(values));
  const answer = await paying.fetch(request, operation === undefined ? {} : { operation });
  const { text: body, cut } = await textOf(answer, ANSWER_LIMITS);
  if (cut) console.error(`The seller's answer is not complete: ${cut.message}`);
  const json = { status: answer.status, body, ...(cut && { truncated: true }) };
  return { json, text: body, code: answer.ok && !cut ? 0 : 1 };
}

export async function budget(): Promise<Said> {
  const remaining = await (await client()).budget();
  const lines = remaining.limits.map(({ pointer, window, unit, limit, remaining: left, resetsAt }) => {
    if (pointer.endsWith("/perPayment")) return `${"Each payment".padEnd(24)} at most ${limit} ${unit}`;
    return `${(window ?? "In total").padEnd(24)} ${left} of ${limit} ${unit} left${resetsAt ? `, resets at ${resetsAt}` : ""}`;
  });
  const { status, unit = remaining.asset?.asset, assets = [] } = remaining;
  const { mode, amount } = remaining.approval;
  const approval = `A person is asked: ${mode}${amount === undefined ? "" : ` ${amount} ${unit}`}`;
  const rates = assets.map(({ asset, chain, counts }) => `1 ${asset} on ${chain} counts as ${counts} ${unit}.`);
  return { json: remaining, text: [`The mandate is ${status}.`, ...rates, ...lines, approval].join("\n") };
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new WrongUse(`The file ${file} cannot be read: ${error.message}`);
  });
  return parseJson(text, `The file ${file}`);
}

export async function verify(file: string, { keys }: Values): Promise<Said> {
  if (file === "") throw new WrongUse("Name the file with the receipt.");
  const receipt = await readJson(file);
  const jwks = keys === undefined ? await publishedKeys(await serviceUrl()) : await readJson(keys);
  const { ok, step, detail } = await verifyReceipt(receipt, jwks);
  return { json: { ok, step, detail }, text: ok ? detail : `The step ${step} fails: ${detail}`, code: ok ? 0 : 1 };
}

/** Opens the page where people approve. Nothing can be approved from the command line. */
export async function approve(checkout: string | undefined): Promise<Said> {
  const path = checkout === undefined ? "/approvals" : `/checkout/${encodeURIComponent(checkout)}`;
  const url = `${await serviceUrl()}${path}`;
  openPage(url);
  return { json: { url }, text: url };
}
