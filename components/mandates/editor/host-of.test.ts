import { expect, test } from "vitest";
import { hostOf } from "./host-of.ts";

test.each([
  ["https://Shop.Example/path?a=b", "shop.example"],
  ["http://shop.example?a=b", "shop.example"],
  ["https://shop.example#part", "shop.example"],
  ["https://user:secret@shop.example/", "shop.example"],
  ["https://shop.example\\@other.example", "shop.example"],
  ["https://shop.example/@other", "shop.example"],
  ["shop.example/path", "shop.example"],
  ["localhost:3000", "localhost:3000"],
])("the host of %s is %s", (entry, host) => expect(hostOf(entry)).toBe(host));

test("an e-mail address is left as it is, so that it is refused", () =>
  expect(hostOf("someone@shop.example")).toBe("someone@shop.example"));
