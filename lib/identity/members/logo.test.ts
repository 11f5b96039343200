import { expect, test } from "vitest";
import { LOGO_CHARS_MAX, readLogo } from "#lib/identity/members/logo.ts";

const url = (type: string, bytes: readonly number[]) => `data:image/${type};base64,${btoa(String.fromCodePoint(...bytes))}`;
const png = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2];
const webp = [
  ...[..."RIFF"].map((letter) => letter.charCodeAt(0)),
  1,
  2,
  3,
  4,
  ...[..."WEBP"].map((letter) => letter.charCodeAt(0)),
];

test.each([
  ["png", png],
  ["jpeg", [0xff, 0xd8, 0xff, 0xe0]],
  ["webp", webp],
])("a picture of the kind %s is read", (type, bytes) => {
  const logo = readLogo(url(type, bytes));
  expect(logo?.type).toBe(`image/${type}`);
  expect([...(logo?.bytes ?? [])]).toEqual(bytes);
});

test.each([
  [
    "a page that says it is a picture",
    url(
      "png",
      [..."<html>"].map((letter) => letter.charCodeAt(0)),
    ),
  ],
  ["a picture of another kind", url("jpeg", png)],
  ["a drawing, which may run scripts", url("svg+xml", png)],
  ["an address", "https://example.com/logo.png"],
  ["text that is not base64", "data:image/png;base64,A"],
  ["a picture that is too large", url("png", [...png, ...Array.from({ length: LOGO_CHARS_MAX }, () => 0)])],
])("%s is refused", (_, text) => {
  expect(readLogo(text)).toBeNull();
});
