import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

export type Profile = { readonly id: string; readonly email: string; readonly name: string; readonly verified: boolean };

export type Providers = {
  /** Returns an authorization code, as a provider issues it after this person has signed in at the provider. */
  grant(profile: Profile): string;
  /** The PKCE challenge for the verifier that was sent with the person's code. */
  challengeOf(profile: Profile): string | undefined;
  stop(): Promise<void>;
};

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

async function formOf(incoming: IncomingMessage): Promise<URLSearchParams> {
  let text = "";
  for await (const chunk of incoming) text += String(chunk);
  return new URLSearchParams(text);
}

/**
 * An ID token as Google makes it. The service does not check its signature, because the token comes directly from Google's
 * server.
 */
const idTokenOf = ({ id, email, name, verified }: Profile): string =>
  `${encode({ alg: "RS256" })}.${encode({ sub: id, email, name, email_verified: verified })}.${"x".repeat(20)}`;

const hosts = new Set(["oauth2.googleapis.com", "github.com", "api.github.com"]);

/**
 * Starts one server on this machine with the endpoints of Google and GitHub that a sign-in needs. fetch to their hosts is
 * redirected to this server, because better-auth does not allow other addresses to be configured.
 */
export async function startProviders(): Promise<Providers> {
  const codes = new Map<string, Profile>();
  const challenges = new Map<string, string>();
  const server = createServer((incoming, outgoing) => {
    const answer = (status: number, body: unknown) =>
      outgoing.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    void (async () => {
      if (incoming.method === "POST") {
        const form = await formOf(incoming);
        const code = form.get("code") ?? "";
        const profile = codes.get(code);
        codes.delete(code);
        if (!profile) return answer(400, { error: "invalid_grant" });
        const token = randomUUID();
        codes.set(token, profile);
        challenges.set(
          profile.id,
          createHash("sha256")
            .update(form.get("code_verifier") ?? "")
            .digest("base64url"),
        );
        return answer(200, { access_token: token, token_type: "Bearer", expires_in: 3600, id_token: idTokenOf(profile) });
      }
      const profile = codes.get((incoming.headers.authorization ?? "").slice("Bearer ".length));
      if (!profile) return answer(401, {});
      const { id, email, name, verified } = profile;
      return answer(
        200,
        incoming.url === "/user" ? { id, login: name, name, email: null } : [{ email, primary: true, verified }],
      );
    })();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", () => done()));
  const { port } = server.address() as AddressInfo;
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : String(input));
    return hosts.has(url.hostname) ? fetch(`http://127.0.0.1:${port}${url.pathname}`, init) : fetch(input, init);
  };
  return {
    grant(profile) {
      const code = randomUUID();
      codes.set(code, profile);
      return code;
    },
    challengeOf: ({ id }) => challenges.get(id),
    async stop() {
      globalThis.fetch = fetch;
      await new Promise((done) => server.close(done));
    },
  };
}
