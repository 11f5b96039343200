import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call, ProblemError } from "#lib/http/client.ts";
import { getResource } from "./calls.ts";

type Which = { readonly sellerId: string; readonly resourceId: string };

const PAUSE_MS = 400;

async function exists({ sellerId, resourceId }: Which): Promise<boolean> {
  try {
    await call(getResource, { id: resourceId, query: { sellerId } });
    return true;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.code === "not_found") return false;
    throw error;
  }
}

/** Whether a resource has this id; false for null and until the service has answered. */
export function useIdTaken(which: Which | null): boolean {
  const { sellerId = "", resourceId = "" } = which ?? {};
  const [asked, setAsked] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setAsked(resourceId), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [resourceId]);
  const { data } = useQuery({
    queryKey: ["resource", sellerId, asked],
    queryFn: () => exists({ sellerId, resourceId: asked }),
    enabled: which !== null && asked !== "" && asked === resourceId,
  });
  return data === true && asked === resourceId;
}
