import { describe, expect, test } from "vitest";
import { addressOf, noteAddress } from "#lib/http/address.ts";
import { createBuckets, requireAllowed } from "#lib/http/rate-limit.ts";

describe("createBuckets", () => {
  test("allows the requests of one second at once and more with time", () => {
    const take = createBuckets("credential", 10);
    const allowed = (count: number, nowMs: number) =>
      Array.from({ length: count }, () => take("a", nowMs)).filter((one) => one.allowed).length;
    expect(allowed(20, 0)).toBe(10);
    expect(allowed(20, 500)).toBe(5);
    expect(allowed(20, 10_000)).toBe(10);
  });

  test("each id has its own limit", () => {
    const take = createBuckets("credential", 1);
    expect([take("a", 0), take("a", 0), take("b", 0)].map((one) => one.allowed)).toEqual([true, false, true]);
  });

  test("memory is limited, and an active id stays limited", () => {
    const take = createBuckets("address", 2);
    take("busy", 0);
    take("busy", 0);
    for (let index = 0; index < 120_000; index++) {
      take(`other-${index}`, 0);
      if (index % 10_000 === 0) expect(take("busy", 0).allowed).toBe(false);
    }
  });

  test("429 names the limit and when to try again", () => {
    const take = createBuckets("address", 1);
    take("a", 0);
    expect(() => requireAllowed(take("a", 0))).toThrowError(
      expect.objectContaining({
        code: "rate_limited",
        details: expect.objectContaining({
          retryAfterSeconds: 1,
          headers: { "RateLimit-Policy": '"address";q=1;w=1', RateLimit: '"address";r=0;t=1' },
        }),
      }),
    );
  });
});

describe("addressOf", () => {
  const from = (socket: string | null, forwarded?: string) => {
    const request = new Request(
      "http://localhost/",
      forwarded === undefined ? {} : { headers: { "x-forwarded-for": forwarded } },
    );
    if (socket !== null) noteAddress(request, socket);
    return request;
  };

  test.each([
    ["10.0.0.1", undefined, 0, "10.0.0.1"],
    ["::ffff:10.0.0.1", undefined, 0, "10.0.0.1"],
    ["2001:db8:1:2:3:4:5:6", undefined, 0, "2001:db8:1:2::/64"],
    ["2001:db8:1:2::9", undefined, 0, "2001:db8:1:2::/64"],
    ["fe80::1%eth0", undefined, 0, "fe80:0:0:0::/64"],
    [null, undefined, 0, "unknown"],
  ])("socket %s is %s", (socket, forwarded, hops, expected) => {
    expect(addressOf(from(socket, forwarded), hops)).toBe(expected);
  });

  test("without configured proxies X-Forwarded-For is ignored", () => {
    expect(addressOf(from("10.0.0.1", "1.2.3.4"), 0)).toBe("10.0.0.1");
  });

  test("forged entries before the last trusted proxy change nothing", () => {
    for (const spoofed of ["", "6.6.6.6, ", "6.6.6.6, 7.7.7.7, ", "not an address, "]) {
      expect(addressOf(from("10.0.0.1", `${spoofed}1.2.3.4`), 1)).toBe("1.2.3.4");
      expect(addressOf(from("10.0.0.1", `${spoofed}1.2.3.4, 10.0.0.2`), 2)).toBe("1.2.3.4");
    }
  });

  test("a request that bypassed the proxies is limited by its socket", () => {
    expect(addressOf(from("10.0.0.1"), 2)).toBe("10.0.0.1");
  });
});
