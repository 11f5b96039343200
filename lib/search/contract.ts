import { z } from "zod";
import { operation } from "#lib/http/operation.ts";

const Found = z
  .object({
    type: z.enum(["mandate", "payment", "resource", "payee", "request", "agent", "member", "seller"]),
    id: z.string().meta({
      description:
        "mandateId, authorizationId, resourceId, checkoutIntentId (request), serviceAccountId (agent), userId (member) or sellerId; for a payee, its domain.",
    }),
    sellerId: z.string().optional().meta({ description: "The seller, if the item is a resource." }),
    name: z.string().meta({
      description:
        "The name of the mandate, agent, member or seller; the resource's method and path; the domain of the payee; the payee of the payment; the amount and payee of the request.",
    }),
    status: z.string().meta({
      description:
        "The status of the mandate or request, the payment's decision, the member's role, `active`, `paused` or `revoked` for an agent, `paid` or `asked` for a payee, otherwise `live`.",
    }),
  })
  .meta({ id: "Found", description: "A record that was found." });
export type Found = z.infer<typeof Found>;

export const searchOrganization = operation({
  id: "searchOrganization",
  method: "GET",
  path: "/api/v1/search",
  tag: "Identity",
  summary: "Find the records of the organization by id or name",
  description:
    "Mandates, resources, agents and sellers by a part of their name or by their id; members by name, e-mail address or id; payees by a part of their domain or name; requests for approval by their id or, among the newest 1,000, by payee or items; payments by their id, idempotency key, intentId or transaction, or by the id of their execution, reservation, checkout or order. At most 5 of each kind of the active organization. Kinds that the person may not read are left out.",
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
