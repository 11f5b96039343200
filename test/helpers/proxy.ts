import { onTestFinished } from "vitest";
import { closePools } from "#lib/db/client.ts";
import { forget } from "#lib/process.ts";
import { Link } from "#test/link.ts";

export async function moveTo(url: string): Promise<void> {
  await closePools();
  process.env["DATABASE_URL"] = url;
  forget("env");
}

/** Lets the database connections of this process go through a proxy, which the test can disturb, until the test ends. */
export async function throughLink(url: string): Promise<Link> {
  const link = await Link.to(url);
  await moveTo(link.through(url));
  onTestFinished(async () => {
    link.close();
    await moveTo(url);
  });
  return link;
}
