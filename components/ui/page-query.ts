export type PageQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The first value of a name; undefined if it is missing or empty. */
export function one(query: PageQuery, name: string): string | undefined {
  const value = query[name];
  const first = typeof value === "string" ? value : value?.[0];
  return first === "" ? undefined : first;
}

export function all(query: PageQuery, name: string): readonly string[] {
  const value = query[name];
  return typeof value === "string" ? [value] : (value ?? []);
}

/** A change to undefined removes the name; empty values are left out. */
export function address(path: string, query: PageQuery, changes: PageQuery = {}): string {
  const params = new URLSearchParams();
  const merged = { ...query, ...changes };
  for (const name of Object.keys(merged)) for (const value of all(merged, name)) if (value !== "") params.append(name, value);
  return params.size > 0 ? `${path}?${params}` : path;
}
