import { configure } from "safe-stable-stringify";

const write = configure({ bigint: false, strict: true });

/**
 * RFC 8785: the one text of a JSON value, members in the order of their names, absent ones left out. Its texts are well-formed; what
 * came from outside was refused otherwise.
 * @throws TypeError for what JSON cannot say
 */
export function canonicalJson(value: unknown): string {
  const text = write(value);
  if (text === undefined) throw new TypeError("There is no JSON for this value.");
  return text;
}
