const expected = new Set<RegExp>();

/** Lets this file write lines to stderr that match. */
export const expectStderr = (pattern: RegExp): void => void expected.add(pattern);

/** Notes what this process writes to stderr. Returns a function that ends this and returns the text that no test expected. */
export function watchStderr(): () => string {
  expected.clear();
  const written: string[] = [];
  const { write } = process.stderr;
  const { error, warn } = console;
  const noting =
    <A extends unknown[], R>(next: (...values: A) => R) =>
    (...values: A): R => {
      written.push(values.map(String).join(" "));
      return next(...values);
    };
  process.stderr.write = noting(write.bind(process.stderr)) as typeof write;
  // Vitest sends these to its main process and not to stderr of this one.
  Object.assign(console, { error: noting(error), warn: noting(warn) });
  return () => {
    process.stderr.write = write;
    Object.assign(console, { error, warn });
    return written.filter((text) => ![...expected].some((pattern) => pattern.test(text))).join("\n");
  };
}
