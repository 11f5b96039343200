import { notFound } from "next/navigation";
import { isProblem, type ProblemCode } from "#lib/problem.ts";

async function orNotFound<T>(reading: Promise<T>, codes: readonly ProblemCode[]): Promise<T> {
  try {
    return await reading;
  } catch (error) {
    if (isProblem(error) && codes.includes(error.code)) notFound();
    throw error;
  }
}

/** A missing object, an object of another organization and an invalid request lead to the 404 page. */
export const found = <T>(reading: Promise<T>): Promise<T> => orNotFound(reading, ["not_found", "invalid_request"]);

/** Like `found`, but also leads readers whose role may not see the data to the 404 page. */
export const foundIfAllowed = <T>(reading: Promise<T>): Promise<T> =>
  orNotFound(reading, ["not_found", "invalid_request", "capability_required"]);
