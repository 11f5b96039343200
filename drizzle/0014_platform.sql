CREATE TABLE "audit_checkpoints" (
	"chain" text NOT NULL,
	"sequence" bigint NOT NULL,
	"hash" text NOT NULL,
	"key_id" text NOT NULL,
	"signature" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "audit_checkpoints_chain_sequence_key_id_pk" PRIMARY KEY("chain","sequence","key_id")
);
--> statement-breakpoint
CREATE TABLE "worker_runs" (
	"worker" text PRIMARY KEY NOT NULL,
	"ran_at" timestamp (3) with time zone NOT NULL,
	"succeeded_at" timestamp (3) with time zone,
	"failed_at" timestamp (3) with time zone
);
--> statement-breakpoint
DROP INDEX "sellers_verified_domain";--> statement-breakpoint
ALTER TABLE "sellers" ADD COLUMN "stopped_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE UNIQUE INDEX "audit_events_newest" ON "audit_events" USING btree ("audit_event_id");--> statement-breakpoint
CREATE INDEX "user_email_start" ON "user" USING btree (lower("email") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "user_name_start" ON "user" USING btree (lower("name") text_pattern_ops);--> statement-breakpoint
CREATE INDEX "user_with_platform_role" ON "user" USING btree ("id") WHERE platform_roles <> '{user}';--> statement-breakpoint
CREATE INDEX "user_banned" ON "user" USING btree ("id") WHERE banned;--> statement-breakpoint
CREATE INDEX "sellers_at_domain" ON "sellers" USING btree ("domain","seller_id") WHERE verified OR stopped_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX "sellers_unverified" ON "sellers" USING btree ("seller_id") WHERE NOT verified AND stopped_at IS NULL;--> statement-breakpoint
CREATE TRIGGER audit_checkpoints_append_only BEFORE UPDATE OR DELETE ON audit_checkpoints FOR EACH ROW EXECUTE FUNCTION refuse_change();--> statement-breakpoint
CREATE TRIGGER audit_checkpoints_no_truncate BEFORE TRUNCATE ON audit_checkpoints FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
