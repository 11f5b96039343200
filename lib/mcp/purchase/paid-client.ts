import { noteOrganization } from "#lib/db/request.ts";
import { installedFetch, standardLimits, type GuardedFetch } from "#lib/outbound/guarded-fetch.ts";
import { storefrontUnavailable } from "#lib/outbound/storefront-problem.ts";
import { perProcess } from "#lib/process.ts";
import { sampleAsset } from "#lib/sandbox/sample-asset.ts";
import { samples, type Sample } from "#lib/sandbox/samples.ts";

export const ANSWER_BYTES = 1 << 20;

/**
 * One request takes at most 34 seconds: 10 until it starts, 2 each for name and connection, 10 each for headers and body. A
 * redirect is returned and not followed, because its target may be a domain that the mandate forbids.
 */
const client = (): GuardedFetch =>
  perProcess("mcp/purchase/paid-client", () =>
    installedFetch({
      ...standardLimits,
      headersMs: 10_000,
      bodyMs: 10_000,
      bodyBytes: ANSWER_BYTES,
      cutsBody: true,
      redirects: 0,
    }),
  );

export type PaidRequest = {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly json?: unknown;
  readonly paymentSignature?: string;
};

export type SellerReply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null if the body arrived incomplete or too slowly. */
  readonly body: Uint8Array | null;
};

/** The sample product at this URL, which this process serves. Null for any other URL, and without a test wallet. */
export const sampleAt = (url: string): Sample | null =>
  sampleAsset() === null ? null : (samples.find((sample) => sample.url === url) ?? null);

async function askSample({ url, path }: Sample, { method, paymentSignature }: PaidRequest): Promise<SellerReply | null> {
  const asset = sampleAsset();
  if (!asset || method !== "GET") return null;
  const { serveSample } = await import("#lib/sandbox/sample-seller.ts");
  const headers = { ...(paymentSignature !== undefined && { "payment-signature": paymentSignature }) };
  const response = await serveSample(asset, new Request(new URL(path, url), { headers }));
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: new Uint8Array(await response.arrayBuffer()),
  };
}

/** Null if no answer came but the seller may have the request, or for a POST to a sample. @throws Problem if nothing was sent */
export async function askSeller(request: PaidRequest, organizationId: string): Promise<SellerReply | null> {
  const { url, method, json, paymentSignature } = request;
  const sample = sampleAt(url);
  if (sample) return askSample(sample, request);
  noteOrganization(organizationId);
  const reply = await client().once(url, {
    method,
    expect: "anything",
    ...(json !== undefined && { json }),
    ...(paymentSignature !== undefined && { paymentSignature }),
  });
  return reply && { status: reply.status, headers: reply.headers, body: reply.body };
}

export const noAnswer = (url: string) => storefrontUnavailable(`${new URL(url).host} did not answer in time.`);
