import { expect, test } from "vitest";
import { isChangesPath, resumeAfter } from "#lib/changes/stream-request.ts";

test("a stream resumes after the sequence in the header, or in the query, or begins now", () => {
  expect(resumeAfter("/changes?after=3", "7")).toBe(7);
  expect(resumeAfter("/changes?after=3", undefined)).toBe(3);
  for (const bad of ["", "-1", "1e9", "x", "9".repeat(16)]) expect(resumeAfter(`/changes?after=${bad}`, bad)).toBeNull();
  expect(resumeAfter("/changes", undefined)).toBeNull();
});

test("no other path is the stream", () => {
  expect(["/changes", "/changes?after=1"].map(isChangesPath)).toEqual([true, true]);
  expect(["/changesx", "/changes/1", "/"].map(isChangesPath)).toEqual([false, false, false]);
});
