import { expect, test } from "vitest";
import { countDoors } from "./doors.ts";

/** What has been reached. These numbers only become smaller. */
const most = { doors: 484, full: 0, twice: 0 };

const counted = await countDoors();

test("no file in a room is imported from outside its module, or is a handler or a contract", () => {
  expect(counted.inRooms).toEqual([]);
});

test("no file of lib exports what another file exports", () => {
  expect(counted.barrels).toEqual([]);
});

test.each(["doors", "full", "twice"] as const)("lib has no more of `%s` than it had", (name) => {
  expect(counted[name].length, counted[name].join("\n")).toBeLessThanOrEqual(most[name]);
});

test("every operation has one handler and one contract, so doors are counted without them", () => {
  expect(counted.operations.length).toBeGreaterThan(100);
  expect(counted.doors.filter((file) => counted.operations.includes(file))).toEqual([]);
});
