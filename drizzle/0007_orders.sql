CREATE TABLE "orders" (
	"order_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"subject_id" text NOT NULL,
	"mandate_id" text NOT NULL,
	"slot" text NOT NULL,
	"fingerprint" text NOT NULL,
	"idempotency_key" text NOT NULL,
	"storefront_url" text NOT NULL,
	"items" json,
	"metadata" json,
	"status" text NOT NULL,
	"attempt" integer NOT NULL,
	"offer" json,
	"authorization_id" text,
	"checkout_intent_id" text,
	"execution_id" text,
	"credential_hash" text,
	"answer" json,
	"body" text,
	"lease" text,
	"leased_until" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "orders_slot" ON "orders" USING btree ("slot");--> statement-breakpoint
CREATE INDEX "orders_of_organization" ON "orders" USING btree ("organization_id","order_id");--> statement-breakpoint
CREATE INDEX "checkout_intents_rejected" ON "checkout_intents" USING btree ("mandate_id","basket_hash") WHERE status = 'rejected';