import { parse } from "libpg-query";

/** What a function's name can stand for: the most volatile of its overloads, and whether this service's schema defines it. */
export type FunctionFacts = { readonly volatility: "immutable" | "stable" | "volatile"; readonly ours: boolean };
export type Functions = Readonly<Record<string, FunctionFacts>>;

export type Judged = {
  readonly kind: string;
  /** Each with its volatility. */
  readonly functions: readonly string[];
  /** Empty for a statement that any engine takes. */
  readonly faults: readonly string[];
};

type Node = Readonly<Record<string, unknown>>;

/** Where a part of a statement stands. Everything but VALUES and a SELECT that is no part of a change has a place. */
type At = {
  readonly place: "UPDATE" | "DELETE" | "ON CONFLICT" | "RETURNING" | null;
  /** In a CASE or COALESCE, of which a database computes only a part. */
  readonly isPartial: boolean;
  /** In a subquery. */
  readonly isApart: boolean;
};

/** Statements that are not judged, by a part of their text, each with the reason. */
const EXCEPTIONS: readonly (readonly [text: RegExp, because: string])[] = [
  [/"?(\w+)"? = \1 [-+] (\$\d+ \* )?interval/, "Only tests move the time of a row, as if time had passed."],
];

const isAdvisory = (name: string): boolean => /^pg_(try_)?advisory_/.test(name);
const lastOf = (names: unknown): string => (names as { String?: { sval: string } }[]).at(-1)?.String?.sval ?? "";

function has(node: unknown, kind: string): boolean {
  if (!node || typeof node !== "object") return false;
  if (Array.isArray(node)) return node.some((one) => has(one, kind));
  return Object.entries(node).some(([name, one]) => name === kind || (name !== "SubLink" && has(one, kind)));
}

function isInterval(node: unknown): boolean {
  const [kind, one] = Object.entries((node ?? {}) as Record<string, Node>)[0] ?? [];
  if (kind === "TypeCast") return lastOf((one!["typeName"] as Node)["names"]) === "interval";
  if (kind === "FuncCall") return lastOf(one!["funcname"]) === "make_interval";
  return kind === "A_Expr" && (isInterval(one!["lexpr"]) || isInterval(one!["rexpr"]));
}

class Walk {
  readonly functions = new Set<string>();
  readonly faults = new Set<string>();
  readonly tables = new Set<string>();
  readonly named = new Set<string>();
  readonly #known: Functions;

  constructor(known: Functions) {
    this.#known = known;
  }

  /** A change within a statement is judged by its own kind; a SELECT is part of what it stands in. */
  walk(node: unknown, at: At): void {
    if (Array.isArray(node)) for (const one of node) this.walk(one, at);
    else if (node && typeof node === "object") for (const [kind, one] of Object.entries(node)) this.#one(kind, one as Node, at);
  }

  #one(kind: string, node: Node, at: At): void {
    if (kind === "UpdateStmt") return this.#change(node, "UPDATE");
    if (kind === "DeleteStmt") return this.#change(node, "DELETE");
    if (kind === "InsertStmt") return this.#change(node, null);
    if (kind === "onConflictClause") return this.walk(node, { ...at, place: "ON CONFLICT" });
    if (kind === "FuncCall") this.#calls(lastOf(node["funcname"]), node["args"], at);
    if (kind === "SQLValueFunction") this.#calls("now", null, at);
    if (kind === "A_Expr") this.#adds(node, at);
    if (kind === "RangeVar") this.tables.add(node["relname"] as string);
    if (kind === "CommonTableExpr") this.named.add(node["ctename"] as string);
    if (kind === "LockingClause" && node["waitPolicy"] === "LockWaitSkip" && at.place)
      this.faults.add(`SKIP LOCKED in ${at.place}`);
    const isPartial = at.isPartial || (at.place !== null && (kind === "CaseExpr" || kind === "CoalesceExpr"));
    const isApart = at.isApart || kind === "SubLink" || kind === "SelectStmt";
    this.walk(node, { ...at, isPartial, isApart });
  }

  #change({ relation, returningList, returningClause, ...rest }: Node, place: At["place"]): void {
    this.tables.add((relation as Node)["relname"] as string);
    this.walk(rest, { place, isPartial: false, isApart: false });
    this.walk([returningList, returningClause], { place: "RETURNING", isPartial: false, isApart: false });
  }

  #calls(name: string, values: unknown, { place, isPartial, isApart }: At): void {
    const { volatility = "volatile", ours = false } = this.#known[name] ?? {};
    this.functions.add(`${name} (${volatility})`);
    if (ours) this.faults.add(`${name} is a function of the schema`);
    if (!place || volatility === "immutable") return;
    if (volatility === "volatile") this.faults.add(`${name} is volatile, in ${place}`);
    else if (place === "ON CONFLICT" || place === "RETURNING") this.faults.add(`${name} is not immutable, in ${place}`);
    else if (isPartial) this.faults.add(`${name} is not immutable, in CASE or COALESCE of ${place}`);
    else if (!isApart && has(values, "ColumnRef")) this.faults.add(`${name} is not immutable and reads a column, in ${place}`);
  }

  /** PostgreSQL marks the addition of an interval to a time as stable, because the length of a day depends on the time zone. */
  #adds(node: Node, { place, isApart }: At): void {
    const isTime = isInterval(node["lexpr"]) !== isInterval(node["rexpr"]) && /^[+-]$/.test(lastOf(node["name"]));
    if (place && !isApart && isTime && has([node["lexpr"], node["rexpr"]], "ColumnRef"))
      this.faults.add(`an interval is added to a column, in ${place}`);
  }
}

/** Judges by the rules of docs/decisions/0060-when-time-is-read.md. */
export async function judge(text: string, known: Functions): Promise<Judged> {
  const { stmts = [] } = await parse(text);
  const walk = new Walk(known);
  walk.walk(stmts, { place: null, isPartial: false, isApart: false });
  const functions = [...walk.functions];
  const lock = functions.find(isAdvisory);
  const table = [...walk.tables].find((name) => !walk.named.has(name));
  if (lock && table) walk.faults.add(`${lock} beside the table ${table}`);
  const [kind = "nothing"] = Object.keys(stmts[0]?.stmt ?? {});
  return { kind, functions, faults: EXCEPTIONS.some(([part]) => part.test(text)) ? [] : [...walk.faults] };
}
