ALTER TABLE "resources" ALTER COLUMN "payment_config" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "resources" ALTER COLUMN "pay_to" DROP NOT NULL;