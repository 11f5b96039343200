ALTER TABLE "plain_settlements" ADD COLUMN "valid_before" timestamp (3) with time zone NOT NULL;--> statement-breakpoint
ALTER TABLE "plain_settlements" ADD COLUMN "from_block" bigint NOT NULL;--> statement-breakpoint
CREATE INDEX "plain_settlements_open" ON "plain_settlements" USING btree ("created_at") WHERE status = 'processing';