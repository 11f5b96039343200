/**
 * A receiver of webhooks that uses little CPU. /well answers 200 at once, /hang never answers, and /broken answers 500. The
 * parent asks for the counts by a message.
 */
import { createServer, type Socket } from "node:net";
import { setPriority } from "node:os";

// This process represents another machine, so it gets a low priority and takes little CPU time from the server.
setPriority(10);

const TIMESTAMP = /"timestamp":"([^"]+)"/;
const OK = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const BROKEN = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n";

let arrived = 0;
let connections = 0;
let delays: number[] = [];

function answer(socket: Socket, head: string, body: string): void {
  if (head.startsWith("POST /hang")) return;
  if (head.startsWith("POST /broken")) return void socket.write(BROKEN);
  arrived += 1;
  delays.push(Date.now() - Date.parse(TIMESTAMP.exec(body)?.[1] ?? ""));
  socket.write(OK);
}

const server = createServer((socket) => {
  connections += 1;
  let received = "";
  socket.on("error", () => {});
  socket.setEncoding("latin1");
  socket.on("data", (chunk) => {
    received += String(chunk);
    for (;;) {
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received.slice(0, end))?.[1] ?? 0);
      if (received.length < end + 4 + length) return;
      answer(socket, received.slice(0, end), received.slice(end + 4, end + 4 + length));
      received = received.slice(end + 4 + length);
    }
  });
});
server.listen(Number(process.argv[2]), "127.0.0.1", () => process.send?.({ listening: true }));
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ arrived, connections, delays, cpuUs: user + system });
  delays = [];
});
process.once("disconnect", () => process.exit(0));
