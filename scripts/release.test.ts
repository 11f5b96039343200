import { expect, test } from "vitest";
import type { Release } from "./promise.ts";
import { addCommit, addRelease, closeChangelog, raiseVersion } from "./release-texts.ts";

const first: Release = { version: "0.9.0", migrations: {}, commit: "abc" };

test("the section of what is unreleased becomes that of the version, and an empty one is refused", () => {
  const text = "# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.9.0 (2026-01-01)\n\n- Old.\n";
  const closed = closeChangelog(text, "0.10.0", "2026-02-01");
  expect(closed).toBe("# Changelog\n\n## Unreleased\n\n## 0.10.0 (2026-02-01)\n\n- New.\n\n## 0.9.0 (2026-01-01)\n\n- Old.\n");
  expect(() => closeChangelog(closed, "0.11.0", "2026-03-01")).toThrow("says nothing");
  expect(() => closeChangelog("# Changelog\n", "0.11.0", "2026-03-01")).toThrow("says nothing");
});

test("a version is replaced in every place, but not a part of another one", () => {
  const text = "a-0.1.0.tgz, 10.1.0, 0.1.0.1, v0.1.0, 0.1.05";
  expect(raiseVersion("a.md", text, "0.1.0", "0.2.0")).toBe("a-0.2.0.tgz, 10.1.0, 0.1.0.1, v0.2.0, 0.1.05");
  expect(() => raiseVersion("a.md", "0.1.1", "0.1.0", "0.2.0")).toThrow("a.md does not name 0.1.0.");
});

test("a release is newer than the last one, has the hashes of all migrations, and gets its commit", () => {
  const added = addRelease([first], "0.10.0", { "0000_first.sql": "SELECT 1" });
  expect(added).toEqual([
    first,
    { version: "0.10.0", migrations: { "0000_first.sql": "e004ebd5b5532a4b85984a62f8ad48a81aa3460c1ca07701f386135d72cdecf5" } },
  ]);
  expect(addCommit(added, "def")).toEqual([first, { ...added[1], commit: "def" }]);
  for (const version of ["0.9.0", "0.8.10"]) expect(() => addRelease([first], version, {})).toThrow("is not newer than 0.9.0");
  for (const version of ["", "v1.0.0", "1.0", "1.0.0-rc1"])
    expect(() => addRelease([first], version, {})).toThrow("Name the version");
});
