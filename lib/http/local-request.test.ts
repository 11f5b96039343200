import { describe, expect, test } from "vitest";
import { isLocalRequest } from "#lib/http/local-request.ts";

const request = (remoteAddress: string, headers: Record<string, string>) => ({ headers, socket: { remoteAddress } });

describe("isLocalRequest", () => {
  test("a request from the machine itself is local, by each of the machine's names", () => {
    for (const host of ["localhost:3000", "127.0.0.1", "[::1]:3000"]) {
      for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
        expect(isLocalRequest(request(address, { host }))).toBe(true);
    }
  });

  test("a request by a proxy, from another machine, or to another name that resolves here is not local", () => {
    const host = "localhost:3000";
    const others = [
      request("192.0.2.7", { host }),
      request("::ffff:10.0.0.1", { host }),
      request("127.0.0.1", { host: "evil.example" }),
      request("127.0.0.1", { host: "localhost.evil.example" }),
      request("127.0.0.1", { host: "127.0.0.1.evil.example:3000" }),
      request("127.0.0.1", {}),
      ...["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"].map((name) =>
        request("127.0.0.1", { host, [name]: "127.0.0.1" }),
      ),
    ];
    for (const one of others) expect(isLocalRequest(one)).toBe(false);
  });
});
