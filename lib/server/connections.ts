import type { Server } from "node:net";
import { env } from "#lib/env.ts";
import { networkOf } from "#lib/http/address.ts";
import { Counts, hasPlace, type Share } from "#lib/http/share.ts";

/**
 * Closes new connections above the limit for one address or for all addresses. Behind proxies all connections come from the
 * proxies, so there only the limit for all applies.
 */
export function boundConnections(server: Server, share: Share): void {
  const counts = new Counts();
  const behindProxies = env().TRUSTED_PROXY_HOPS > 0;
  server.on("connection", (socket) => {
    const address = networkOf(socket.remoteAddress ?? "unknown");
    const own = counts.of(address);
    if (behindProxies ? counts.total >= share.most : !hasPlace(own, counts.total, share)) return void socket.destroy();
    counts.add(address, 1);
    socket.once("close", () => counts.add(address, -1));
  });
}
