import { notFound } from "next/navigation";
import { isProblem } from "#lib/problem.ts";

/** Reads the data of a page. A missing object, an object of another organization and an invalid cursor lead to the 404 page. */
export async function found<T>(reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (isProblem(error) && (error.code === "not_found" || error.code === "invalid_request")) notFound();
    throw error;
  }
}
