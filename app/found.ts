import { notFound } from "next/navigation";
import { isProblem } from "#lib/problem.ts";

/** What a page reads; what is not there, or belongs to somebody else, is the page that is not there, and so is a cursor that no list made. */
export async function found<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (isProblem(error) && (error.code === "not_found" || error.code === "invalid_request")) notFound();
    throw error;
  }
}
