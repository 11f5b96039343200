import type { Server } from "node:net";
import { env } from "#lib/env.ts";
import { networkOf } from "#lib/http/address.ts";
import { Counts, hasPlace, type Share } from "#lib/http/share.ts";

/** Closes connections above the limits. Behind proxies only the limit for all applies, as every address is a proxy's. */
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
