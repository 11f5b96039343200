import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify, type ECDH } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { forget } from "#lib/process.ts";
import { addDevice } from "#lib/push/add-device.ts";
import * as contract from "#lib/push/contract.ts";
import { send, type Credential } from "#test/tenant.ts";

/* A push service on this machine, and devices that decrypt its messages as browsers do: RFC 8291 and RFC 8188. */

export type Received = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

/** Starts a push service that answers 201 until `answer` sets another status, and allows the sandbox to call its address. */
export async function startPushService() {
  const received: Received[] = [];
  let status: number | ((path: string) => number) = 201;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      received.push({ path, headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(typeof status === "number" ? status : status(path)).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const before = process.env["OUTBOUND_LOOPBACK"];
  process.env["OUTBOUND_LOOPBACK"] = [before, `127.0.0.1:${port}`].filter(Boolean).join(",");
  forget("env");
  return {
    origin: `http://127.0.0.1:${port}`,
    received,
    answer: (next: typeof status) => (status = next),
    async stop() {
      if (before === undefined) delete process.env["OUTBOUND_LOOPBACK"];
      else process.env["OUTBOUND_LOOPBACK"] = before;
      forget("env");
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}
export type PushService = Awaited<ReturnType<typeof startPushService>>;

export type TestDevice = { readonly path: string; readonly endpoint: string; readonly auth: Buffer; readonly pair: ECDH };

export const subscriptionOf = ({ endpoint, auth, pair }: TestDevice) => ({
  endpoint,
  keys: { p256dh: pair.getPublicKey("base64url"), auth: auth.toString("base64url") },
});

/** A device with a push subscription at this push service, such as a browser has. */
export function createDevice({ origin }: { readonly origin: string }): TestDevice {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  const path = `/send/${randomBytes(6).toString("hex")}`;
  return { path, endpoint: origin + path, auth: randomBytes(16), pair };
}

/** Registers a device as the person of this session, with the API. */
export async function addTestDevice(service: PushService, as: Credential, details = false) {
  const device = createDevice(service);
  const { status, data, problem } = await send(contract.addDevice, addDevice, {
    as,
    body: { ...subscriptionOf(device), details },
  });
  if (status !== 200) throw new Error(problem.detail);
  return { ...device, deviceId: data.deviceId };
}

const hkdf = (salt: Buffer, key: Buffer, info: Buffer, length: number) =>
  Buffer.from(hkdfSync("sha256", key, salt, info, length));

/** A message, decrypted and parsed as the device does it. @throws Error if the message is for another device or was changed */
export function decrypt({ body }: Received, { auth, pair }: TestDevice): Record<string, unknown> {
  const [salt, keyLength] = [body.subarray(0, 16), body.readUInt8(20)];
  const sender = body.subarray(21, 21 + keyLength);
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), pair.getPublicKey(), sender]);
  const secret = hkdf(auth, pair.computeSecret(sender), info, 32);
  const key = hkdf(salt, secret, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = hkdf(salt, secret, Buffer.from("Content-Encoding: nonce\0"), 12);
  const sealed = body.subarray(21 + keyLength);
  const decipher = createDecipheriv("aes-128-gcm", key, nonce);
  decipher.setAuthTag(sealed.subarray(-16));
  const padded = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  return JSON.parse(padded.subarray(0, padded.lastIndexOf(2)).toString()) as Record<string, unknown>;
}

/** The claims of the sender's token, and the public key that signed it (RFC 8292). @throws Error if the signature is wrong */
export function readVapid({ headers }: Received): { readonly publicKey: string; readonly claims: Record<string, unknown> } {
  const [, token = "", publicKey = ""] = /^vapid t=([^,]+), ?k=(.+)$/.exec(headers.authorization ?? "") ?? [];
  const [head = "", payload = "", signature = ""] = token.split(".");
  const point = Buffer.from(publicKey, "base64url");
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((part) => part.toString("base64url"));
  const key = createPublicKey({ key: { kty: "EC", crv: "P-256", x: x!, y: y! }, format: "jwk" });
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${payload}`),
    { key, dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  if (!isSigned) throw new Error("The token has another signature.");
  return { publicKey, claims: JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown> };
}
