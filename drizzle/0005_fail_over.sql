CREATE TABLE "database_timelines" (
	"system_identifier" text PRIMARY KEY NOT NULL,
	"timeline" integer NOT NULL,
	"seen_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "database_timelines_timeline" CHECK (timeline > 0)
);
--> statement-breakpoint
CREATE TABLE "process_commits" (
	"process_id" text PRIMARY KEY NOT NULL,
	"committed_at" timestamp (3) with time zone NOT NULL
);
