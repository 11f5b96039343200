ALTER TABLE "plain_settlements" ADD COLUMN "handed_over" boolean DEFAULT false NOT NULL;--> statement-breakpoint
-- Their sellers were answered before.
UPDATE "plain_settlements" SET "handed_over" = true WHERE "status" = 'settled';
