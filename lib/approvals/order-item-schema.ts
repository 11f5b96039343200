/** Imports no server code, so that a browser can load it. */
import { z } from "zod";

export const ItemMetadata = z.record(z.string().max(128), z.unknown()).meta({
  description:
    "Free-form. It is stored and shown, and does not affect the decision. A person who is asked sees its `purpose`, up to 140 characters, as the agent's own words.",
});

export const StorefrontUrl = z
  .url({ protocol: /^https?$/, error: "Write the storefront's address, such as https://shop.example.com." })
  .max(2048);

const text = (max: number) => z.string().min(1).max(max);

export const OrderItem = z
  .strictObject({
    productId: text(128).optional(),
    variantId: text(128).optional(),
    query: text(200).optional(),
    color: text(60).optional(),
    size: text(60).optional(),
    quantity: z.int().min(1).max(10_000).optional(),
    metadata: ItemMetadata.optional(),
  })
  .meta({ id: "OrderItem", description: "What to buy: by product, or by a query that only one variant fits." });

export const OrderItems = z.array(OrderItem).min(1).max(100);
