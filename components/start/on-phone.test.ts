import type { ReactElement } from "react";
import { expect, test } from "vitest";
import { Notice } from "#components/ui/notice.tsx";
import { OnPhone } from "./on-phone.tsx";
import { qrCode } from "./qr-code.ts";

const path = "/checkout/cki_01kaj4n7v8e2m0x3c9t5q6r7t0";
const shown = (baseUrl: string) => OnPhone({ baseUrl, path }) as ReactElement<{ readonly children: unknown }>;

test("shows the QR code of the request's address if a phone can open it, with white cells around it", () => {
  const html = JSON.stringify(shown("https://pay.example.org").props);
  const dark = qrCode(`https://pay.example.org${path}`)?.flat().filter(Boolean).length;
  expect(html.match(/h1v1h-1z/g)).toHaveLength(dark ?? 0);
  expect(html).toContain('"viewBox":"0 0 45 45"');
  // A white square lies behind the dark cells, because dark cells cannot be scanned on a dark page.
  expect(html).toContain('{"width":45,"height":45,"fill":"#fff"}');
});

test("says why there is no QR code if a phone cannot open the address", () => {
  const { type, props } = shown("http://localhost:3000");
  expect([type, props.children]).toEqual([Notice, expect.stringContaining("so a phone cannot open it")]);
});
