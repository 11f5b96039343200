import { describe, expect, it } from "vitest";
import { canonicalDomain } from "#lib/sellers/domain.ts";

const loopback = ["127.0.0.1:4021"];

describe("canonicalDomain", () => {
  it.each([
    ["shop.example.com", "shop.example.com"],
    ["EXAMPLE.com:443", "example.com"],
    ["ⓔxample.com", "example.com"],
    ["example。com", "example.com"],
    ["exa%6Dple.com", "example.com"],
    ["faß.de", "xn--fa-hia.de"],
    ["example.com.", "example.com"],
    ["münchen.de", "xn--mnchen-3ya.de"],
    ["日本語.jp", "xn--wgv71a119e.jp"],
    ["テストtest.jp", "xn--test-un4czcp.jp"],
    ["пример.рф", "xn--e1afmkfd.xn--p1ai"],
    ["оао.рф", "xn--80a1ab.xn--p1ai"],
    ["παράδειγμα.gr", "xn--hxajbheg2az3al.gr"],
    ["localhost:4021", "localhost:4021"],
    ["127.0.0.1:4021", "127.0.0.1:4021"],
  ])("reads %s as %s", (text, domain) => {
    expect(canonicalDomain(text, loopback)).toEqual({ ok: true, domain });
  });

  it.each([
    ["another host behind userinfo", "example.com@evil.com"],
    ["a path", "example.com/path"],
    ["a backslash", "example.com\\evil.com"],
    ["a query", "example.com?x"],
    ["a fragment", "example.com#x"],
    ["a space", "exa mple.com"],
    ["a tab that URLs drop", "exa\tmple.com"],
    ["a zero-width space", "\u200bexample.com"],
    ["a soft hyphen", "exam\u00adple.com"],
    ["a line break", "example.com\r\n"],
    ["a Cyrillic letter among Latin ones", "аpple.com"],
    ["the same in punycode", "xn--pple-43d.com"],
    ["a wholly Cyrillic label that reads as Latin", "аррӏе.com"],
    ["a wholly Greek label that reads as Latin", "νικι.com"],
    ["an emoji", "💸.com"],
    ["an IPv4 address", "10.0.0.1"],
    ["a short IPv4 address", "127.1"],
    ["a hexadecimal address", "0x7f.1"],
    ["a decimal address", "2130706433"],
    ["an address in circled digits", "①②⑦.⓪.⓪.①"],
    ["an IPv6 address", "[::1]"],
    ["a mapped address", "[::ffff:127.0.0.1]"],
    ["a machine's name", "intranet"],
    ["localhost without the port that is listed", "localhost"],
    ["a loopback port that is not listed", "localhost:4022"],
    ["a name below localhost", "shop.localhost"],
    ["a port", "example.com:8443"],
    ["an empty label", "a..b.com"],
    ["a hyphen at the start", "-a.com"],
    ["an underscore", "a_b.com"],
    ["a numeric top level", "example.123"],
    ["broken punycode", "xn--a.com"],
    ["nothing", ""],
    ["a dot", "."],
    ["254 characters", `${"a".repeat(250)}.com`],
    ["a label of 64 characters", `${"a".repeat(64)}.com`],
  ])("refuses %s", (_, text) => {
    expect(canonicalDomain(text, loopback)).toMatchObject({ ok: false });
  });

  it("accepts no loopback host if none is configured", () => {
    expect(canonicalDomain("localhost:4021", [])).toMatchObject({ ok: false });
  });

  it("is fast for a hundred thousand characters", () => {
    const started = performance.now();
    canonicalDomain("а.".repeat(50_000), loopback);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
