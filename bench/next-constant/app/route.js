/** Answers with constant JSON, to measure the cost of Next.js alone. */
export const dynamic = "force-dynamic";

export const POST = () => Response.json({ outcome: "allow" });
