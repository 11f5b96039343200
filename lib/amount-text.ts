import { z } from "zod";
import { AMOUNT, NOT_DECIMAL } from "#lib/money.ts";

/** How many decimals an amount may have depends on the asset, so that is checked where the asset is known. */
export const AmountText = z
  .string()
  .max(97)
  .regex(AMOUNT, NOT_DECIMAL)
  .meta({ description: "A decimal amount in whole units of the asset.", examples: ["1.50"] });
