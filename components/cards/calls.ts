import type * as contract from "#lib/cards/contract.ts";
import { atAddress } from "#lib/http/client.ts";

export const setCard = atAddress<typeof contract.setCard>({
  id: "setCard",
  method: "PUT",
  path: "/api/v1/rails/stripe/{connectionId}/cards/{cardId}",
});

export const updateCardConnection = atAddress<typeof contract.updateCardConnection>({
  id: "updateCardConnection",
  method: "PATCH",
  path: "/api/v1/rails/stripe/{connectionId}",
});
