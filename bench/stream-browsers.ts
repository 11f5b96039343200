/** Opens streams of changes on plain sockets, as browsers would, and counts messages. The process ends with its parent. */
import { connect } from "node:net";
import { setPriority } from "node:os";

const [port = "0"] = process.argv.slice(2);
// This process represents other machines, so it gets a low priority and takes little CPU time from the server.
setPriority(10);
const AGAIN_MS = 500;
let open = 0;
let messages = 0;

function read(cookie: string): void {
  const socket = connect(Number(port), "127.0.0.1");
  let isOpen = false;
  socket.on("data", (chunk: Buffer) => {
    const text = chunk.toString();
    if (!isOpen && text.startsWith("HTTP/1.1 200")) {
      isOpen = true;
      open += 1;
    }
    messages += text.split("\ndata: ").length - 1;
  });
  socket
    .on("error", () => {})
    .once("close", () => {
      open -= isOpen ? 1 : 0;
      // The service refuses a new stream while it opens many others, so try again, as pages in a browser do.
      setTimeout(read, AGAIN_MS, cookie);
    });
  socket.write(`GET /changes HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n\r\n`);
}

process.on("message", (told: { readonly cookies?: readonly string[] }) => {
  for (const cookie of told.cookies ?? []) read(cookie);
  if (!told.cookies) process.send?.({ open, messages });
});
process.once("disconnect", () => process.exit(0));
