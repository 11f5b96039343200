import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from "node:crypto";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

export const SESSION_SECONDS = 12 * 3600;
export const RENEWAL_SECONDS = 3600;

const isHttps = (): boolean => env().BASE_URL.startsWith("https://");

/** `__Host-` binds the cookie to this host over https; browsers refuse that prefix on plain http. */
export const cookiePrefix = (): string => (isHttps() ? "__Host-countersign" : "countersign");
export const cookieAttributes = () => ({ httpOnly: true, sameSite: "lax", path: "/", secure: isHttps() }) as const;

export const sessionCookieName = (): string => `${cookiePrefix()}.session_token`;

const signingKey = (): KeyObject => perProcess("sessionCookieSecret", () => createSecretKey(env().BETTER_AUTH_SECRET, "utf8"));

const sign = (token: string): string => createHmac("sha256", signingKey()).update(token).digest("base64");

/** The raw value of the session cookie. Null when there is none. */
export function sessionCookieOf(request: Request): string | null {
  const header = request.headers.get("cookie");
  if (header === null) return null;
  const name = `${sessionCookieName()}=`;
  for (const part of header.split(";")) {
    const pair = part.trimStart();
    if (pair.startsWith(name)) return pair.slice(name.length).trimEnd();
  }
  return null;
}

/** The session token inside a cookie that this service signed, in the form of better-auth: token.signature, percent-encoded. */
export function verifySessionCookie(value: string): string | null {
  if (value.length > 512) return null;
  let text: string;
  try {
    text = decodeURIComponent(value);
  } catch {
    return null;
  }
  const dot = text.lastIndexOf(".");
  if (dot < 1) return null;
  const given = Buffer.from(text.slice(dot + 1));
  const expected = Buffer.from(sign(text.slice(0, dot)));
  return given.length === expected.length && timingSafeEqual(given, expected) ? text.slice(0, dot) : null;
}

/** The cookie of a session, as a Set-Cookie line. */
export function sessionCookieLine(token: string): string {
  const { path, secure } = cookieAttributes();
  const value = encodeURIComponent(`${token}.${sign(token)}`);
  return `${sessionCookieName()}=${value}; Max-Age=${SESSION_SECONDS}; Path=${path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}
