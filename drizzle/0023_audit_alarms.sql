CREATE TABLE "audit_alarms" (
	"chain" text PRIMARY KEY NOT NULL,
	"sequence" bigint NOT NULL,
	"detail" text NOT NULL,
	"signed_sequence" bigint NOT NULL,
	"signed_hash" text NOT NULL,
	"raised_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "audit_events_signed" ON "audit_events" USING btree ("entity_id",(("metadata" ->> 'sequence')::bigint)) WHERE chain = 'checkpoints';