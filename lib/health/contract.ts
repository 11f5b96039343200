import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { Timestamp } from "#lib/time.ts";

export const checkLiveness = operation({
  id: "checkLiveness",
  method: "GET",
  path: "/api/v1/health/live",
  tag: "Health",
  summary: "Check that the process is alive",
  description: "Checks only the process itself: an unavailable database is not a reason to restart it.",
  access: "anyone",
  response: z
    .object({ status: z.literal("alive"), timestamp: Timestamp, uptimeMs: z.int().min(0) })
    .meta({ id: "Liveness", description: "The process answers." }),
  problems: [],
  example: { response: { status: "alive", timestamp: "2026-11-21T12:00:00.000Z", uptimeMs: 86_400_000 } },
});

const Readiness = z
  .object({
    status: z.literal("ready"),
    checks: z.array(
      z
        .object({
          name: z.enum([
            "database",
            "authorizations",
            "emergencies",
            "commits",
            "migrations",
            "queue",
            "chains",
            "settlements",
            "webhooks",
            "pages",
          ]),
          status: z.enum(["ready", "degraded"]),
        })
        .meta({ id: "ServiceCheck" }),
    ),
  })
  .meta({ id: "Readiness", description: "Everything that a payment needs is there." });
export type Readiness = z.infer<typeof Readiness>;

export const checkReadinessOfService = operation({
  id: "checkReadinessOfService",
  method: "GET",
  path: "/api/v1/health/ready",
  tag: "Health",
  summary: "Check whether the service can handle requests",
  description:
    "Checks every pool of database connections, whether the database commits, the migrations, the queue of requests and the chains, each for at most two seconds. If one of them fails, or the process is stopping, the answer is 503 service_unavailable and names it. Commits fail while the database is read-only, its disk is full, or no standby answers and COMMIT must wait for one; the detail says so within seven seconds, and what still works. A chain that does not answer is degraded: payments are still authorized, and are settled when the chain answers again. Settlements are degraded while a transaction of the service has waited 20 seconds for a block, or cannot be sent. Webhooks are degraded while the keys of this process cannot decrypt the secrets of an endpoint. Pages are degraded while their process is starting again; a process that serves no pages leaves them out.",
  access: "anyone",
  tellsState: true,
  response: Readiness,
  problems: ["service_unavailable"],
  example: {
    response: {
      status: "ready",
      checks: [
        { name: "database", status: "ready" },
        { name: "authorizations", status: "ready" },
        { name: "emergencies", status: "ready" },
        { name: "commits", status: "ready" },
        { name: "migrations", status: "ready" },
        { name: "queue", status: "ready" },
        { name: "chains", status: "ready" },
        { name: "settlements", status: "ready" },
        { name: "webhooks", status: "ready" },
      ],
    },
  },
});

export const checkReadinessOfPages = operation({
  id: "checkReadinessOfPages",
  method: "GET",
  path: "/api/v1/health/pages",
  tag: "Health",
  summary: "Check whether the service can show pages",
  description:
    "For load balancers that send people: like checkReadinessOfService, and 503 service_unavailable also while the process of the pages is starting, or if this process serves no pages. While only commits fail, pages still show what is there, so commits are degraded and the answer is 200.",
  access: "anyone",
  tellsState: true,
  response: Readiness,
  problems: ["service_unavailable"],
  example: {
    response: {
      status: "ready",
      checks: [
        { name: "database", status: "ready" },
        { name: "pages", status: "ready" },
      ],
    },
  },
});
