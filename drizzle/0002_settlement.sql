CREATE TABLE "pending_settlements" (
	"key" text PRIMARY KEY NOT NULL,
	"transaction" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "plain_settlements" (
	"settlement_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"service_account_id" text NOT NULL,
	"chain" text NOT NULL,
	"token_address" text NOT NULL,
	"payer" text NOT NULL,
	"nonce" text NOT NULL,
	"pay_to" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"credential_hash" text NOT NULL,
	"status" text NOT NULL,
	"transaction" text,
	"error_reason" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"resolved_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "settlement_days" (
	"organization_id" text NOT NULL,
	"day" text NOT NULL,
	"settlements" integer NOT NULL,
	CONSTRAINT "settlement_days_organization_id_day_pk" PRIMARY KEY("organization_id","day")
);
--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "from_block" bigint;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "slot" text;--> statement-breakpoint
ALTER TABLE "executions" ADD COLUMN "fingerprint" text;--> statement-breakpoint
CREATE UNIQUE INDEX "plain_settlements_nonce" ON "plain_settlements" USING btree ("chain","token_address","payer","nonce");--> statement-breakpoint
CREATE INDEX "plain_settlements_of_organization" ON "plain_settlements" USING btree ("organization_id","settlement_id");--> statement-breakpoint
CREATE UNIQUE INDEX "executions_slot" ON "executions" USING btree ("slot");--> statement-breakpoint
CREATE INDEX "executions_of_credential" ON "executions" USING btree ("payer","nonce");