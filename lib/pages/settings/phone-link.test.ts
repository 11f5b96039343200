import { describe, expect, test } from "vitest";
import { phoneLink } from "#lib/pages/settings/phone-link.ts";

const path = "/checkout/cki_01kaj4n7v8e2m0x3c9t5q6r7t0";

describe("phoneLink", () => {
  test("is the address of the request and nothing else", () => {
    expect(phoneLink("https://pay.example.org", path)).toEqual({ ok: true, url: `https://pay.example.org${path}` });
  });

  test.each([
    ["http://pay.example.org", /has no https.*Set BASE_URL/],
    ["http://localhost:3000", /an address of this machine/],
    ["https://localhost:3000", /an address of this machine/],
    ["https://127.0.0.1", /an address of this machine/],
    ["https://[::1]:3000", /an address of this machine/],
  ])("a phone cannot open %s", (baseUrl, why) => {
    expect(phoneLink(baseUrl, path)).toEqual({ ok: false, detail: expect.stringMatching(why) as string });
  });
});
