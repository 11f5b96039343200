import { Connection } from "./client.ts";
import { authorizeBody, type Scene } from "./scene.ts";
import type { BenchServer } from "./server.ts";

const SIZE = 200;

export type Burst = {
  readonly processes: number;
  readonly room: number;
  readonly allowed: number;
  readonly denied: number;
  readonly errors: number;
};

/** Sends 200 concurrent requests under a budget that is enough for `room` of them. */
export async function burst(scene: Scene, servers: readonly BenchServer[], room: number): Promise<Burst> {
  const mandateId = await scene.mandate((room / 100).toFixed(2));
  const connections = await Promise.all(
    Array.from({ length: SIZE }, (_, index) =>
      Connection.open({
        port: servers[index % servers.length]!.port,
        path: "/api/v1/payments/authorize",
        headers: { Authorization: `Bearer ${scene.keys[index % scene.keys.length]}` },
      }),
    ),
  );
  const replies = await Promise.all(connections.map((connection) => connection.send(authorizeBody(scene, mandateId))));
  for (const connection of connections) connection.close();
  const count = (outcome: string) =>
    replies.filter(({ status, body }) => status === 200 && body.includes(`"outcome":"${outcome}"`)).length;
  const allowed = count("allow");
  const denied = count("deny");
  return { processes: servers.length, room, allowed, denied, errors: SIZE - allowed - denied };
}
