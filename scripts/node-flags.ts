import manifest from "../package.json" with { type: "json" };

/** What `npm start` tells Node of memory, for whoever starts the same server otherwise. */
export const nodeFlags: readonly string[] = manifest.scripts.start.split(" ").filter((word) => word.startsWith("--"));
