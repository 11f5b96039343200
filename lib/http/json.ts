import { invalidField, isProblem, Problem } from "#lib/problem.ts";

/** JSON.parse has no limits, accepts repeated keys, and silently changes large integers, so parseJson checks the text first. */
export const BODY_BYTES_MAX = 65_536;
const DEPTH_MAX = 16;
const NODES_MAX = 2_000;

export type BodyLimits = {
  readonly bytes: number;
  /** The maximum number of keys and values in the body, counted together. */
  readonly nodes: number;
  readonly depth: number;
};
export const usualLimits: BodyLimits = { bytes: BODY_BYTES_MAX, nodes: NODES_MAX, depth: DEPTH_MAX };
const POINTER_MAX = 256;

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** An open object or array: the keys seen so far (null in an array), and the key or index that is being read. */
type Frame = { readonly keys: Set<string> | null; at: string | number | null };

const NUMBER = /-?[0-9][0-9.eE+-]*/y;

export const escapePointer = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

const pointerTo = (frames: readonly Frame[]): string => {
  const pointer = frames.map(({ at }) => (at === null ? "" : `/${escapePointer(String(at))}`)).join("");
  return pointer.length > POINTER_MAX ? pointer.slice(0, POINTER_MAX) : pointer;
};

export const malformed = (): Problem =>
  new Problem("invalid_request", {
    detail: "The body is not valid JSON.",
    errors: [{ detail: "The body is not valid JSON.", pointer: "" }],
  });

/** Finds most numbers whose value JSON.parse would change. */
function changes(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) return true;
  if (value === 0) return /[1-9]/.test(token.split(/[eE]/, 1)[0] ?? "");
  return token.length > 24 || (token.length > 17 && !/[eE]/.test(token) && String(value) !== token.replace(/0+$/, ""));
}

/** Only an escape sequence can produce a NUL or half of a surrogate pair, which are refused. */
function decode(text: string, start: number, end: number, escaped: boolean, frames: readonly Frame[]): string {
  if (!escaped) return text.slice(start, end);
  let value: string;
  try {
    value = JSON.parse(text.slice(start - 1, end + 1)) as string;
  } catch {
    throw malformed();
  }
  if (value.includes("\0")) throw invalidField(pointerTo(frames), "NUL characters are not allowed.");
  if (!value.isWellFormed()) throw invalidField(pointerTo(frames), "The text has half of a surrogate pair.");
  return value;
}

function enterKey(frame: Frame, key: string, frames: readonly Frame[]): void {
  const repeated = frame.keys?.has(key);
  frame.at = key;
  if (repeated) throw invalidField(pointerTo(frames), "This field is given twice.");
  if (key === "__proto__") throw invalidField(pointerTo(frames), "This name is not allowed.");
  frame.keys?.add(key);
}

/** Throws for a broken limit, repeated key, or refused key, text or number. JSON.parse finds the other errors. */
function scan(text: string, nodesMax: number, depthMax: number): void {
  const frames: Frame[] = [];
  let frame: Frame | undefined;
  let nodes = 0;
  let expectKey = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === QUOTE) {
      const start = i + 1;
      let escaped = false;
      for (i = start; i < text.length; i++) {
        const inner = text.charCodeAt(i);
        if (inner === QUOTE) break;
        if (inner === BACKSLASH) {
          escaped = true;
          i++;
        }
      }
      if (expectKey && frame) enterKey(frame, decode(text, start, i, escaped, frames), frames);
      else if (escaped) decode(text, start, i, true, frames);
      expectKey = false;
      nodes++;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      frame = code === OPEN_OBJECT ? { keys: new Set(), at: null } : { keys: null, at: 0 };
      expectKey = code === OPEN_OBJECT;
      nodes++;
      if (frames.push(frame) > depthMax)
        throw invalidField(pointerTo(frames.slice(0, -1)), `The body is nested deeper than ${depthMax}.`);
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      frames.pop();
      frame = frames.at(-1);
      expectKey = false;
    } else if (code === COMMA) {
      if (frame?.keys) {
        expectKey = true;
        frame.at = null;
      } else if (frame) frame.at = Number(frame.at) + 1;
    } else if ((code >= 48 && code <= 57) || code === 45) {
      NUMBER.lastIndex = i;
      const token = NUMBER.exec(text)?.[0] ?? "-";
      if ((token.length > 15 || /e/i.test(token)) && changes(token))
        throw invalidField(pointerTo(frames), "This number cannot be kept exactly.");
      i += token.length - 1;
      nodes++;
    } else if (code === 102 || code === 110 || code === 116) {
      nodes++; // the first letter of false, null or true
    }
    if (nodes > nodesMax) throw invalidField("", `The body has more than ${nodesMax} values.`);
  }
}

/** @throws Problem invalid_request with a pointer */
export function parseJson(text: string, nodesMax = NODES_MAX, depthMax = DEPTH_MAX): unknown {
  scan(text, nodesMax, depthMax);
  try {
    return JSON.parse(text);
  } catch {
    throw malformed();
  }
}

export const tooLarge = (bytesMax: number): Problem =>
  new Problem("body_too_large", { detail: `The body is larger than ${bytesMax / 1024} KiB. Send less in one request.` });

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

async function readCounting(body: ReadableStream<Uint8Array>, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > bytesMax) throw tooLarge(bytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** A broken connection counts as a malformed request, because its error would look like a lost database connection. */
async function readBytes(request: Request, declared: boolean, bytesMax: number): Promise<ArrayBuffer | Uint8Array> {
  try {
    if (declared) return await request.arrayBuffer();
    return request.body ? await readCounting(request.body, bytesMax) : new Uint8Array();
  } catch (error) {
    throw isProblem(error) ? error : malformed();
  }
}

/** With a Content-Length header, Node.js enforces that length; without one, the bytes are counted as they arrive. */
export async function readBody(request: Request, bytesMax = BODY_BYTES_MAX): Promise<string> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > bytesMax) throw tooLarge(bytesMax);
  const bytes = await readBytes(request, declared !== null, bytesMax);
  if (bytes.byteLength > bytesMax) throw tooLarge(bytesMax);
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed();
  }
}

const JSON_TYPE = /^application\/json(?:\s*;\s*charset\s*=\s*"?utf-8"?)?\s*$/i;

/** Stops forms on other sites, because a browser sends every form with another content type, also one with an empty body. */
export function requireJsonType(contentType: string | null): void {
  if (contentType === null || contentType === "application/json" || JSON_TYPE.test(contentType)) return;
  throw new Problem("content_type_unsupported", { detail: "Send the body as application/json." });
}

export function requireJsonAccepted(accept: string | null): void {
  if (accept === null || accept === "" || accept === "*/*" || accept === "application/json") return;
  let best = -1;
  let quality = 0;
  for (const range of accept.slice(0, 4096).split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const rank = ["*/*", "application/*", "application/json"].indexOf(type ?? "");
    if (rank < best || rank < 0) continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    best = rank;
    quality = weight === undefined ? 1 : Number(weight.slice(2));
  }
  if (quality > 0) return;
  throw new Problem("not_acceptable", { detail: "This service answers application/json only." });
}
