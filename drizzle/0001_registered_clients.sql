ALTER TABLE "oauth_client" ALTER COLUMN "reference_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "oauth_client" ALTER COLUMN "created_by" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "oauth_client" ADD COLUMN "expires_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "oauth_client_unused" ON "oauth_client" USING btree ("expires_at") WHERE expires_at IS NOT NULL;