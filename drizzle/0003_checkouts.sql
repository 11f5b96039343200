CREATE TABLE "checkout_approvals" (
	"approval_id" text PRIMARY KEY NOT NULL,
	"checkout_intent_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"status" text NOT NULL,
	"approved_at" timestamp (3) with time zone NOT NULL,
	"approved_by_subject_id" text NOT NULL,
	"reason" text,
	"preselected_mandate_id" text,
	"mandate_id" text,
	"agent_id" text NOT NULL,
	"approval_surface" text NOT NULL,
	"approved_basket_hash" text NOT NULL,
	"approved_amount" numeric(78,0) NOT NULL,
	"approved_asset" text NOT NULL,
	"approved_chain" text NOT NULL,
	"approved_pay_to" text NOT NULL,
	"authorization_id" text,
	"continuation_token_id" text,
	"continuation_token_hash" text,
	"continuation_token_status" text,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	CONSTRAINT "checkout_approvals_amount" CHECK (approved_amount > 0 AND approved_amount < 'NaN')
);
--> statement-breakpoint
CREATE TABLE "checkout_intents" (
	"checkout_intent_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"owner_subject_id" text NOT NULL,
	"seller_id" text,
	"resource_id" text,
	"domain" text NOT NULL,
	"storefront_url" text NOT NULL,
	"mandate_id" text,
	"detected_mandate_id" text,
	"mandate_status" text NOT NULL,
	"canonical_basket" json NOT NULL,
	"basket_hash" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"asset" text NOT NULL,
	"chain" text NOT NULL,
	"pay_to" text NOT NULL,
	"token_address" text NOT NULL,
	"token_decimals" integer NOT NULL,
	"quote_id" text,
	"quote_expires_at" timestamp (3) with time zone,
	"challenge" json,
	"fee_quote" json,
	"items" json,
	"storefront" json,
	"metadata" json,
	"creates_fulfillment_order" boolean NOT NULL,
	"status" text NOT NULL,
	"authorization_id" text,
	"order_id" text,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "checkout_intents_amount" CHECK (amount > 0 AND amount < 'NaN')
);
--> statement-breakpoint
CREATE TABLE "checkout_reviews" (
	"session_id" text NOT NULL,
	"checkout_intent_id" text NOT NULL,
	"basket_hash" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"asset" text NOT NULL,
	"chain" text NOT NULL,
	"pay_to" text NOT NULL,
	"shown_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "checkout_reviews_session_id_checkout_intent_id_pk" PRIMARY KEY("session_id","checkout_intent_id")
);
--> statement-breakpoint
CREATE TABLE "step_ups" (
	"step_up_id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"user_id" text NOT NULL,
	"checkout_intent_id" text NOT NULL,
	"method" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "checkout_approvals_one" ON "checkout_approvals" USING btree ("checkout_intent_id");--> statement-breakpoint
CREATE UNIQUE INDEX "checkout_approvals_token" ON "checkout_approvals" USING btree ("continuation_token_hash");--> statement-breakpoint
CREATE INDEX "checkout_approvals_of_authorization" ON "checkout_approvals" USING btree ("authorization_id");--> statement-breakpoint
CREATE INDEX "checkout_approvals_due" ON "checkout_approvals" USING btree ("expires_at") WHERE status = 'pending';--> statement-breakpoint
CREATE UNIQUE INDEX "checkout_intents_one_open" ON "checkout_intents" USING btree ("organization_id",coalesce(mandate_id, ''),"basket_hash") WHERE status IN ('previewed', 'awaiting_approval') AND authorization_id IS NULL;--> statement-breakpoint
CREATE INDEX "checkout_intents_of_organization" ON "checkout_intents" USING btree ("organization_id","checkout_intent_id");--> statement-breakpoint
CREATE INDEX "checkout_intents_of_authorization" ON "checkout_intents" USING btree ("authorization_id");--> statement-breakpoint
CREATE INDEX "checkout_intents_due" ON "checkout_intents" USING btree ("expires_at") WHERE status IN ('previewed', 'awaiting_approval');--> statement-breakpoint
CREATE INDEX "step_ups_of_checkout" ON "step_ups" USING btree ("checkout_intent_id","session_id");