/** Measures the cost of Next.js alone: a route handler that answers constant JSON. */
export const dynamic = "force-dynamic";

export const POST = () => Response.json({ outcome: "allow" });
