import { z } from "zod";
import { operation } from "#lib/http/operation.ts";

const Found = z
  .object({
    type: z.enum(["mandate", "payment", "resource"]),
    id: z.string().meta({ description: "mandateId, authorizationId or resourceId." }),
    sellerId: z.string().optional().meta({ description: "The seller, if the item is a resource." }),
    name: z.string().meta({ description: "The mandate's name, the resource's method and path, or the payee of the payment." }),
    status: z.string().meta({ description: "The mandate's status, the payment's decision, or `live`." }),
  })
  .meta({ id: "Found", description: "A mandate, payment or resource that was found." });
export type Found = z.infer<typeof Found>;

export const searchOrganization = operation({
  id: "searchOrganization",
  method: "GET",
  path: "/api/v1/search",
  tag: "Identity",
  summary: "Find mandates, payments and resources by id or name",
  description:
    "Mandates and resources by a part of their name or by their id, payments by authorizationId, executionId or checkoutIntentId. At most 5 of each kind, newest first, of the active organization. Kinds that the person may not read are left out.",
  access: "session",
  query: z.strictObject({
    q: z.string().trim().min(2).max(128).meta({ description: "An id, or a part of a name, in any case." }),
  }),
  response: z.object({ items: z.array(Found) }),
  problems: [],
  example: {
    query: { q: "lab" },
    response: {
      items: [{ type: "mandate", id: "mdt_01kaj4n7v8e2m0x3c9t5q6r7s9", name: "Lab supplies", status: "active" }],
    },
  },
});
