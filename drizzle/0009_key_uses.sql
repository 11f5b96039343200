CREATE TABLE "key_uses" (
	"key_id" text PRIMARY KEY NOT NULL,
	"last_used_at" timestamp (3) with time zone NOT NULL,
	"address" text NOT NULL,
	"user_agent" text
);
--> statement-breakpoint
CREATE INDEX "usage_buckets_over" ON "usage_buckets" USING btree ("live_until");