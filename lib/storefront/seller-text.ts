import { z } from "zod";

/** Control, format, private-use and unassigned characters, and separators of lines and paragraphs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** UNSEEN characters become spaces, because some of them hide or reorder text. */
export const SellerText = (max: number) =>
  z
    .string()
    .max(max * 4)
    // Cutting the text in the middle of a character leaves half of a surrogate pair.
    .transform((text) =>
      text
        .replaceAll(UNSEEN, " ")
        .replaceAll(/\s+/g, " ")
        .trim()
        .slice(0, max)
        .replace(/[\uD800-\uDBFF]$/, "")
        .toWellFormed(),
    );

/** Ids that a storefront chooses: products, variants, quotes, orders. */
export const SellerId = z.string().regex(/^[\x21-\x7e]{1,128}$/, "Use 1 to 128 visible ASCII characters.");

export const findings = (error: z.ZodError, at = ""): { detail: string; pointer: string }[] =>
  error.issues.slice(0, 20).map(({ message, path }) => ({
    detail: message,
    pointer: `${at}${path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}`,
  }));
