import { domainToASCII } from "node:url";
import { expect, test } from "vitest";
import { looksLike } from "#lib/payments/refusals/look-alike.ts";

test.each([
  ["arnazon.example", "amazon.example"],
  ["nordiys.example", "nordlys.example"],
  ["nord1ys.example", "nordlys.example"],
  ["nordlyss.example", "nordlys.example"],
  ["nodrlys.example", "nordlys.example"],
  ["nordlys.shop", "nordlys.example"],
  ["nordlys-example.com", "nordlysexample.com"],
  ["nordlys.example.pay.test", "nordlys.example"],
  [domainToASCII("nördlys.example"), "nordlys.example"],
  [domainToASCII("nоrdlys.example"), "nordlys.example"],
])("%s looks like %s", (domain, other) => {
  expect(looksLike(domain, other)).toBe(true);
});

test.each([
  ["nordlys.example", "nordlys.example"],
  ["api.nordlys.example", "nordlys.example"],
  ["nordlys.example", "api.nordlys.example"],
  ["larkfield.example", "nordlys.example"],
  ["abc.io", "abd.co"],
  ["127.0.0.1:4001", "127.0.0.1:4002"],
])("%s does not look like %s", (domain, other) => {
  expect(looksLike(domain, other)).toBe(false);
});
