import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from "node:crypto";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

export const SESSION_SECONDS = 12 * 3600;
export const RENEWAL_SECONDS = 3600;

const isHttps = (): boolean => env().BASE_URL.startsWith("https://");

/** Browsers send a cookie with the prefix `__Host-` only to this host, and may refuse the prefix over http. */
export const cookiePrefix = (): string => (isHttps() ? "__Host-countersign" : "countersign");
export const cookieAttributes = () => ({ httpOnly: true, sameSite: "lax", path: "/", secure: isHttps() }) as const;

export const sessionCookieName = (): string => `${cookiePrefix()}.session_token`;

const signingKey = (): KeyObject =>
  perProcess("identity/sessions/session-cookie", () => createSecretKey(env().BETTER_AUTH_SECRET, "utf8"));

const sign = (token: string): string => createHmac("sha256", signingKey()).update(token).digest("base64");

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

/** The form is better-auth's: token.signature, percent-encoded; null if this service did not sign the cookie. */
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

export function sessionCookieLine(token: string): string {
  const { path, secure } = cookieAttributes();
  const value = encodeURIComponent(`${token}.${sign(token)}`);
  return `${sessionCookieName()}=${value}; Max-Age=${SESSION_SECONDS}; Path=${path}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`;
}
