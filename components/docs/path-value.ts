/** The pattern of values that can be sent in a path. A URL drops the segments "." and "..", also if they are encoded. */
export const PATH_VALUE = String.raw`\s*(?!\.{1,2}\s*$)\S.*`;
