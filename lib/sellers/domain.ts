import { domainToUnicode } from "node:url";
import { isLocalName } from "#lib/outbound/local-name.ts";

export type Domain = { readonly ok: true; readonly domain: string } | { readonly ok: false; readonly detail: string };

const refused = (detail: string): Domain => ({ ok: false, detail });

/** Characters that a URL parser takes for a border of the host or removes silently, and characters that cannot be seen. */
const NOT_A_HOST = /[\s\p{C}/\\?#@]/u;
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** As the highly restrictive level of UTS 39: one script of a list, or the scripts that Japanese, Chinese and Korean mix with Latin. */
const single = [
  ..."Latin Greek Cyrillic Armenian Hebrew Arabic Thaana Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu".split(" "),
  ..."Kannada Malayalam Sinhala Thai Lao Tibetan Myanmar Georgian Ethiopic Khmer".split(" "),
];
const together = [
  ["Latin", "Han", "Hiragana", "Katakana"],
  ["Latin", "Han", "Bopomofo"],
  ["Latin", "Han", "Hangul"],
];
const writing = [...single.map((script) => [script]), ...together].map(
  (scripts) => new RegExp(`^[0-9\\-${scripts.map((script) => `\\p{scx=${script}}`).join("")}]+$`, "u"),
);

/** Labels whose letters are all Cyrillic or all Greek and look like Latin letters. */
const LOOKS_LATIN = /^([0-9\-асԁеһіјӏорԛѕԝхуъьҽпгѵѡ]+|[0-9\-αικνρυωηοτ]+)$/u;
const ASCII = /^[\0-\x7f]*$/;

/** Each label uses one writing system and, under an ASCII top-level domain, has not only letters that look Latin. */
function isSafe(domain: string): boolean {
  const labels = domainToUnicode(domain).split(".");
  const latinTop = ASCII.test(labels.at(-1) ?? "");
  return labels.every((label) => {
    if (ASCII.test(label)) return label !== "" && !label.startsWith("xn--");
    return writing.some((scripts) => scripts.test(label)) && !(latinTop && LOOKS_LATIN.test(label));
  });
}

/** localhost also fits a host:port pair of 127.0.0.1 or [::1] with the same port. */
const isLoopback = (host: string, loopback: readonly string[]): boolean =>
  loopback.includes(host) ||
  (host.startsWith("localhost:") && loopback.some((entry) => /^(127\.0\.0\.1|\[::1\]):/.test(entry) && sameEnd(entry, host)));

const sameEnd = (a: string, b: string): boolean => a.slice(a.lastIndexOf(":")) === b.slice(b.lastIndexOf(":"));

/** The stored spelling: lower-case ASCII without a dot at the end. `loopback` lists host:port pairs that the sandbox allows. */
export function canonicalDomain(text: string, loopback: readonly string[]): Domain {
  if (text.length > 253 || NOT_A_HOST.test(text)) return refused("Write only a host name, such as shop.example.com.");
  const url = URL.parse(`https://${text}`);
  if (!url) return refused("This is not a host name.");
  if (isLoopback(url.host, loopback)) return { ok: true, domain: url.host };
  if (url.port !== "") return refused("A domain has no port.");
  const domain = url.hostname.endsWith(".") ? url.hostname.slice(0, -1) : url.hostname;
  const labels = domain.split(".");
  if (labels.length < 2 || isLocalName(domain) || /^[0-9]*$/.test(labels.at(-1) ?? "")) {
    return refused("Write a public domain, not an address or the name of a machine.");
  }
  if (!labels.every((label) => LABEL.test(label))) return refused("This is not a host name.");
  if (!isSafe(domain)) return refused("This domain mixes scripts or imitates Latin letters.");
  return { ok: true, domain };
}
