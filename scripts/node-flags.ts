import manifest from "../package.json" with { type: "json" };

/** The flags of Node in `npm start`, for other code that starts the same server. */
export const nodeFlags: readonly string[] = manifest.scripts.start.split(" ").filter((word) => word.startsWith("--"));
