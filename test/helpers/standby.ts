import type { Duplex } from "node:stream";
import postgres from "postgres";

export type TestStandby = { end(): Promise<void> };

/** A standby that keeps nothing: it receives what the primary of `url` writes, and says at once that it has it on its disk. */
export async function startStandby(url: string, name: string): Promise<TestStandby> {
  const replication = { application_name: name, replication: "true" } as Record<string, string>;
  const sql = postgres(url, { max: 1, fetch_types: false, idle_timeout: 0, connection: replication, onnotice: () => {} });
  const [{ xlogpos } = { xlogpos: "" }] = await sql.unsafe<{ xlogpos: string }[]>("IDENTIFY_SYSTEM");
  const stream = (await sql.unsafe(`START_REPLICATION PHYSICAL ${xlogpos}`).writable()) as Duplex;
  const confirm = (position: bigint): void => {
    const status = Buffer.alloc(34);
    status.write("r");
    for (const at of [1, 9, 17]) status.writeBigUInt64BE(position, at);
    stream.write(status);
  };
  const [high = "0", low = "0"] = xlogpos.split("/");
  confirm((BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`));
  stream.on("data", (message: Buffer) => {
    const position = message.readBigUInt64BE(1);
    confirm(message[0] === "w".charCodeAt(0) ? position + BigInt(message.length - 25) : position);
  });
  stream.on("error", () => {});
  return {
    async end() {
      stream.destroy();
      await sql.end({ timeout: 0 });
    },
  };
}
