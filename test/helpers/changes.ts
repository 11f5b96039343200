import { connect } from "node:net";
import { onTestFinished } from "vitest";
import type { ChangeMessage } from "#lib/changes/change.ts";

/** Opens a TCP connection, sends an HTTP request, and collects the answer, which may be the stream of changes. */
export function readStream(port: number, request: string) {
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let text = "";
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {}).on("data", (chunk: Buffer) => (text += chunk.toString()));
  socket.write(request);
  return {
    socket,
    ended,
    text: () => text,
    status: () => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0),
    messages: () => [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!) as ChangeMessage),
    /** The id of the last message, which a browser sends when it connects again; -1 if no message has an id. */
    lastId: () => Number([...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1] ?? -1),
  };
}

export type StreamReader = ReturnType<typeof readStream>;
