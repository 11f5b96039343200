import { z } from "zod";

/** What cannot be seen, or turns what follows around. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** A storefront's words: shown as text and never obeyed, so nothing in them may hide or reorder what stands beside them. */
export const SellerText = (max: number) =>
  z
    .string()
    .max(max * 4)
    .transform((text) => text.replaceAll(UNSEEN, " ").replaceAll(/\s+/g, " ").trim().slice(0, max));

/** Ids that a storefront chooses: products, variants, quotes, orders. */
export const SellerId = z.string().regex(/^[\x21-\x7e]{1,128}$/, "Use 1 to 128 visible ASCII characters.");

/** zod's findings in the words of a problem's errors. */
export const findings = (error: z.ZodError, at = ""): { detail: string; pointer: string }[] =>
  error.issues.slice(0, 20).map(({ message, path }) => ({
    detail: message,
    pointer: `${at}${path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}`,
  }));
