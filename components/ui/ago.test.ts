import { expect, test } from "vitest";
import { ago } from "./ago.ts";

const now = "2026-11-28T12:00:00.000Z";

test.each([
  ["2026-11-28T12:00:05.000Z", "just now"],
  ["2026-11-28T11:59:30.000Z", "just now"],
  ["2026-11-28T11:58:00.000Z", "2 min ago"],
  ["2026-11-28T11:00:00.000Z", "1 hour ago"],
  ["2026-11-27T12:00:00.000Z", "24 hours ago"],
  ["2026-11-20T12:00:00.000Z", "8 days ago"],
])("at noon, %s is %s", (then, text) => expect(ago(then, now)).toBe(text));
