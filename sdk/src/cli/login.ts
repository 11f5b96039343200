import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fetchWithin, wholeText } from "../bounded.ts";
import { CountersignError, ServiceUnreachable } from "../errors.ts";
import { untilStopped, WrongUse, type Said } from "./arguments.ts";
import { chooseMandate, mandatesOf, type Choice } from "./mandates.ts";
import { openPage } from "./open-page.ts";
import { save, serviceUrl } from "./settings.ts";

const CLIENT_ID = "countersign-cli";
const WAIT_MS = 600_000;
const LIMITS = { bytes: 1 << 20, milliseconds: 20_000 };

/** Sign-in failed, or a person refused it. Nothing was saved. */
class NotSignedIn extends CountersignError {}

type Issuer = { readonly issuer: string; readonly authorization_endpoint: string; readonly token_endpoint: string };
type Token = { readonly access_token: string; readonly service_account_id: string; readonly organization_id: string };

/** The service's URL. It must be https, or http on this machine, because a key will be sent to it. @throws WrongUse */
function serviceAt(text: string): string {
  const { protocol, hostname, href } = URL.canParse(text) ? new URL(text) : { protocol: "", hostname: "", href: "" };
  const isHere = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  if (protocol !== "https:" && !(protocol === "http:" && isHere))
    throw new WrongUse("Name the address of the service, such as https://pay.example.com.");
  return href.replace(/\/+$/, "");
}

async function readJson<T>(url: string, init: RequestInit = {}): Promise<T> {
  const response = await fetchWithin(LIMITS.milliseconds, fetch, url, { ...init, redirect: "error" }).catch((cause: unknown) => {
    throw new ServiceUnreachable(`The service at ${new URL(url).origin} cannot be reached.`, { cause });
  });
  const body = await wholeText(response, LIMITS)
    .then((text) => JSON.parse(text) as T & { error_description?: string; detail?: string })
    .catch(() => null);
  if (response.ok && body) return body;
  throw new NotSignedIn(body?.error_description ?? body?.detail ?? `${new URL(url).host} answered ${response.status}.`);
}

/** The endpoints for the sign-in. Only URLs with the origin of the service are accepted. */
async function discover(service: string): Promise<Issuer> {
  const found = await readJson<Issuer>(`${service}/.well-known/oauth-authorization-server`);
  const { origin } = new URL(service);
  for (const address of [found.issuer, found.authorization_endpoint, found.token_endpoint])
    if (!URL.canParse(address) || new URL(address).origin !== origin)
      throw new NotSignedIn(`${origin} names ${address} for the sign-in, which is another origin.`);
  return found;
}

const page = (text: string): string => `<!doctype html><meta charset="utf-8"><title>countersign</title><p>${text}</p>`;

function answer(response: ServerResponse, status: number, text: string): void {
  const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", connection: "close" };
  response.writeHead(status, headers).end(page(text));
}

type Callback = { readonly redirectUri: string; readonly code: Promise<string>; close(): void };

/**
 * Listens on this machine for the request with which the browser returns. A request without the state and the issuer of this
 * sign-in gets a 404. The wait also ends after ten minutes, or when the user stops the program.
 */
async function openCallback(state: string, { issuer }: Issuer, signal: AbortSignal): Promise<Callback> {
  const server = createServer();
  await new Promise<void>((done, fail) => server.once("error", fail).listen(0, "127.0.0.1", done));
  const code = new Promise<string>((resolve, reject) => {
    server.on("request", (request: IncomingMessage, response: ServerResponse) => {
      // Any web page can send requests here. A path that gives no valid URL is replaced by /.
      const asked = `http://127.0.0.1${request.url}`;
      const { pathname, searchParams: query } = new URL(URL.canParse(asked) ? asked : "http://127.0.0.1/");
      const isOurs = request.method === "GET" && pathname === "/callback" && query.get("state") === state;
      if (!isOurs || query.get("iss") !== issuer) return answer(response, 404, "There is nothing here.");
      const found = query.get("code");
      answer(response, 200, found ? "You are signed in. Close this page." : "The sign-in was refused. Close this page.");
      if (found) return resolve(found);
      return reject(new NotSignedIn(query.get("error_description") ?? `The sign-in was refused: ${query.get("error")}.`));
    });
    const late = (): void => reject(new NotSignedIn("Nobody finished the sign-in in time."));
    AbortSignal.any([signal, AbortSignal.timeout(WAIT_MS)]).addEventListener("abort", late, { once: true });
  });
  code.catch(() => {});
  const { port } = server.address() as AddressInfo;
  return { redirectUri: `http://127.0.0.1:${port}/callback`, code, close: () => void server.close() };
}

function nextStep([first, ...more]: readonly Choice[]): string {
  if (first && more.length === 0) return `Payments use the mandate ${first.mandateId} (${first.name}).`;
  return chooseMandate(first ? [first, ...more] : []);
}

/** Signs in by OAuth with PKCE in the browser, and saves the API key of the service account that the person chose. */
export async function login(address: string): Promise<Said> {
  const url = serviceAt(address === "" ? await serviceUrl() : address);
  const issuer = await discover(url);
  const [state, verifier] = [randomBytes(16), randomBytes(32)].map((bytes) => bytes.toString("base64url")) as [string, string];
  const callback = await openCallback(state, issuer, untilStopped());
  try {
    const challenge = createHash("sha256").update(verifier).digest("base64url");
    const { redirectUri } = callback;
    const asked = { response_type: "code", client_id: CLIENT_ID, redirect_uri: redirectUri, state };
    const authorize = new URL(issuer.authorization_endpoint);
    const query = { ...asked, code_challenge: challenge, code_challenge_method: "S256" };
    for (const [name, value] of Object.entries(query)) authorize.searchParams.set(name, value);
    console.error(`Sign in at ${authorize.href}`);
    openPage(authorize.href);
    const code = await callback.code;
    const form = {
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      client_id: CLIENT_ID,
      code_verifier: verifier,
    };
    const token = await readJson<Token>(issuer.token_endpoint, { method: "POST", body: new URLSearchParams(form) });
    const { access_token: apiKey, service_account_id: serviceAccountId, organization_id: organizationId } = token;
    const mandates = await mandatesOf({ url, apiKey, serviceAccountId });
    const mandateId = mandates.length === 1 ? mandates[0]?.mandateId : undefined;
    const file = await save({ url, apiKey, serviceAccountId, ...(mandateId !== undefined && { mandateId }) });
    const json = { serviceAccountId, organizationId, file, mandates };
    return { json, text: `Signed in as ${serviceAccountId}. The key is in ${file}.\n${nextStep(mandates)}` };
  } finally {
    callback.close();
  }
}
