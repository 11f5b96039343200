/** People paste URLs, but the rules apply to hosts. */
export const hostOf = (entry: string): string =>
  entry
    .toLowerCase()
    .replace(/^https?:\/\/([^/?#\\]*@)?/, "")
    .replace(/[/?#\\].*$/, "");
