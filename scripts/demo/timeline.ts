import { styleText } from "node:util";
import { ProblemError } from "#lib/http/client.ts";

const INDENT = "    ";
const LABEL = 10;
const width = Math.min(process.stdout.columns || 80, 80);

const colourful = process.stdout.isTTY && !process.env["NO_COLOR"];
const paint = (style: Parameters<typeof styleText>[0], text: string): string =>
  colourful ? styleText(style, text, { validateStream: false }) : text;
let silent = false;
const write = (text: string): boolean => silent || process.stdout.write(text);

/** Stops all output. When the demo is stopped, steps that still run fail, and their errors are not useful. */
export function silence(): void {
  silent = true;
}

/** Adds a fact to the running step, which prints it at its end. A label has at most nine letters. */
export type Tell = (label: string, text: string) => void;

export class StepFailed extends Error {
  constructor(title: string, cause: unknown) {
    super(`"${title}" failed.`, { cause });
    this.name = "StepFailed";
  }
}

function wrap(text: string, room: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line !== "" && line.length + 1 + word.length > room) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

const durationOf = (milliseconds: number): string =>
  milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;

let steps = 0;
/** The title of the running step. It is printed without a newline, because its duration follows on the same line. */
let openTitle = "";

function closeTitle(): void {
  if (openTitle !== "") write("\n");
  openTitle = "";
}

function tell(label: string, text: string): void {
  const [first = "", ...rest] = wrap(text, width - INDENT.length - LABEL);
  write(`${INDENT}${paint("dim", label.padEnd(LABEL))}${first}\n`);
  for (const line of rest) write(`${INDENT}${" ".repeat(LABEL)}${line}\n`);
}

export function section(title: string): void {
  closeTitle();
  write(`\n${paint("bold", title)}\n`);
}

/** Prints a separate line, such as the progress of a slow task. */
export function note(line: string): void {
  closeTitle();
  for (const part of wrap(line, width - INDENT.length)) write(`${INDENT}${paint("dim", part)}\n`);
}

/** Prints a line to copy, without wrapping or color. */
export function plain(line = ""): void {
  closeTitle();
  write(`${line}\n`);
}

/** Runs one step of the demo. Prints its title at the start, and its duration and facts at the end. */
export async function step<T>(title: string, work: (tell: Tell) => Promise<T>): Promise<T> {
  steps += 1;
  openTitle = `${String(steps).padStart(2)}  ${title}`;
  write(openTitle);
  const told: [string, string][] = [];
  const began = performance.now();
  const finish = (word: string, style: "dim" | "red"): void => {
    write(`${paint(style, word.padStart(Math.max(2, width - openTitle.length)))}\n`);
    openTitle = "";
    for (const [label, text] of told) tell(label, text);
  };
  try {
    const result = await work((label, text) => void told.push([label, text]));
    finish(durationOf(performance.now() - began), "dim");
    return result;
  } catch (error) {
    finish("failed", "red");
    throw new StepFailed(title, error);
  }
}

/** Prints the step that failed and, if the service refused a request, its problem. */
export function report(error: unknown): void {
  closeTitle();
  const cause = error instanceof StepFailed ? error.cause : error;
  const body = cause instanceof ProblemError ? cause.problem : cause instanceof Error ? cause.cause : undefined;
  write(`\n${paint("red", error instanceof Error ? error.message : String(error))}\n`);
  if (cause !== error) write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
  if (typeof body === "object" && body !== null && !(body instanceof Error)) write(`${JSON.stringify(body, null, 2)}\n`);
}
