/** The maximum length, in characters, of the data URL as which a logo is stored. */
export const LOGO_CHARS_MAX = 40_000;

export const LOGO = /^data:image\/(png|jpeg|webp);base64,([A-Za-z0-9+/]+={0,2})$/;

/** Each character of `text` is one byte. */
const begins = {
  png: (text: string) => text.startsWith("\u0089PNG\r\n\u001a\n"),
  jpeg: (text: string) => text.startsWith("\u00ff\u00d8\u00ff"),
  webp: (text: string) => text.startsWith("RIFF") && text.startsWith("WEBP", 8),
} as const;

export type Logo = { readonly type: `image/${keyof typeof begins}`; readonly bytes: Uint8Array<ArrayBuffer> };

/** Returns null if the URL is invalid or too long, or if the bytes have another format than the URL states. */
export function readLogo(url: string): Logo | null {
  const [, kind, base64] = LOGO.exec(url) ?? [];
  if (kind === undefined || base64 === undefined || url.length > LOGO_CHARS_MAX) return null;
  const text = readBase64(base64);
  if (text === null || !begins[kind as keyof typeof begins](text)) return null;
  return { type: `image/${kind as keyof typeof begins}`, bytes: Uint8Array.from(text, (letter) => letter.charCodeAt(0)) };
}

function readBase64(base64: string): string | null {
  try {
    return atob(base64);
  } catch {
    return null;
  }
}
