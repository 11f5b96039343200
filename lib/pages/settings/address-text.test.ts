import { expect, test } from "vitest";
import { addressText } from "#lib/pages/settings/address-text.ts";

test.each([
  ["2001:0db8:0001:0002:0000:0000:0000:0000", "2001:db8:1:2::/64"],
  ["2001:0db8:0001:0002:0000:0000:0000:0007", "2001:db8:1:2::7"],
  ["0000:0000:0000:0000:0000:0000:0000:0000", "This computer"],
  ["::1", "This computer"],
  ["127.0.0.1", "This computer"],
  ["::ffff:203.0.113.9", "203.0.113.9"],
  ["203.0.113.9", "203.0.113.9"],
  ["", null],
  [null, null],
  ["no address", null],
])("the stored address %j is shown as %j", (stored, shown) => expect(addressText(stored)).toBe(shown));
