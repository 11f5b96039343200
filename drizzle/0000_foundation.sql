CREATE TABLE "audit_events" (
	"chain" text NOT NULL,
	"sequence" bigint NOT NULL,
	"audit_event_id" text NOT NULL,
	"type" text NOT NULL,
	"actor_id" text NOT NULL,
	"organization_id" text,
	"subject_id" text,
	"entity_type" text NOT NULL,
	"entity_id" text NOT NULL,
	"metadata" json NOT NULL,
	"hash" text NOT NULL,
	"created_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "audit_events_chain_sequence_pk" PRIMARY KEY("chain","sequence")
);
--> statement-breakpoint
CREATE TABLE "audit_heads" (
	"chain" text PRIMARY KEY NOT NULL,
	"sequence" bigint NOT NULL,
	"hash" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "fee_quotes" (
	"fee_quote_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"quote" json NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "fee_schedules" (
	"fee_schedule_id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"buyer_organization_id" text,
	"seller_organization_id" text,
	"plan_tier" text,
	"settlement_mode" text,
	"chain" text,
	"asset" text,
	"fee_payer" text NOT NULL,
	"fee_recipient" text NOT NULL,
	"percentage_bps" integer NOT NULL,
	"flat_amount" text NOT NULL,
	"minimum_fee_amount" text,
	"maximum_fee_amount" text,
	"included_monthly_volume" bigint NOT NULL,
	"effective_from" timestamp (3) with time zone NOT NULL,
	"effective_until" timestamp (3) with time zone,
	"metadata" json,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "fee_schedules_bps" CHECK (percentage_bps BETWEEN 0 AND 10000)
);
--> statement-breakpoint
CREATE TABLE "fees" (
	"fee_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"authorization_id" text NOT NULL,
	"side" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"asset" text NOT NULL,
	"chain" text NOT NULL,
	"kind" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "fees_amount" CHECK (amount > 0 AND amount < 'NaN')
);
--> statement-breakpoint
CREATE TABLE "monthly_volumes" (
	"organization_id" text NOT NULL,
	"month" text NOT NULL,
	"chain" text NOT NULL,
	"asset" text NOT NULL,
	"gross" numeric(78,0) NOT NULL,
	CONSTRAINT "monthly_volumes_organization_id_month_chain_asset_pk" PRIMARY KEY("organization_id","month","chain","asset"),
	CONSTRAINT "monthly_volumes_gross" CHECK (gross >= 0 AND gross < 'NaN')
);
--> statement-breakpoint
CREATE TABLE "subscriptions" (
	"subscription_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"plan_id" text NOT NULL,
	"tier" text NOT NULL,
	"status" text NOT NULL,
	"current_period_start" timestamp (3) with time zone NOT NULL,
	"current_period_end" timestamp (3) with time zone NOT NULL,
	"metadata" json,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "subscriptions_organization_id_unique" UNIQUE("organization_id")
);
--> statement-breakpoint
CREATE TABLE "idempotency" (
	"slot" text PRIMARY KEY NOT NULL,
	"fingerprint" text NOT NULL,
	"status" smallint NOT NULL,
	"body" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "account" (
	"id" text PRIMARY KEY NOT NULL,
	"account_id" text NOT NULL,
	"provider_id" text NOT NULL,
	"user_id" text NOT NULL,
	"access_token" text,
	"refresh_token" text,
	"id_token" text,
	"access_token_expires_at" timestamp (3) with time zone,
	"refresh_token_expires_at" timestamp (3) with time zone,
	"scope" text,
	"password" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"key_id" text PRIMARY KEY NOT NULL,
	"service_account_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"secret_hash" text NOT NULL,
	"preview" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"expires_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "invitation" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"email" text NOT NULL,
	"role" text,
	"status" text DEFAULT 'pending' NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"inviter_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "member" (
	"id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"user_id" text NOT NULL,
	"role" text DEFAULT 'viewer' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "organization" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"slug" text NOT NULL,
	"logo" text,
	"metadata" text,
	"environment" text NOT NULL,
	"product_roles" text[] NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "organization_slug_unique" UNIQUE("slug")
);
--> statement-breakpoint
CREATE TABLE "rate_limit" (
	"id" text PRIMARY KEY NOT NULL,
	"key" text NOT NULL,
	"count" integer NOT NULL,
	"last_request" bigint NOT NULL,
	CONSTRAINT "rate_limit_key_unique" UNIQUE("key")
);
--> statement-breakpoint
CREATE TABLE "service_accounts" (
	"service_account_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"name" text NOT NULL,
	"capabilities" text[] NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"revoked_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "session" (
	"id" text PRIMARY KEY NOT NULL,
	"user_id" text NOT NULL,
	"token" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"ip_address" text,
	"user_agent" text,
	"active_organization_id" text,
	"provider" text DEFAULT 'emailPassword' NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "session_token_unique" UNIQUE("token")
);
--> statement-breakpoint
CREATE TABLE "user" (
	"id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"email" text NOT NULL,
	"email_verified" boolean DEFAULT false NOT NULL,
	"image" text,
	"platform_roles" text[] DEFAULT '{user}' NOT NULL,
	"banned" boolean DEFAULT false NOT NULL,
	"ban_reason" text,
	"ban_expires" timestamp (3) with time zone,
	"audited_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "user_email_unique" UNIQUE("email")
);
--> statement-breakpoint
CREATE TABLE "verification" (
	"id" text PRIMARY KEY NOT NULL,
	"identifier" text NOT NULL,
	"value" text NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mandate_ledger" (
	"ledger_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"mandate_id" text NOT NULL,
	"reservation_id" text NOT NULL,
	"authorization_id" text NOT NULL,
	"kind" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "mandate_ledger_amount" CHECK (amount > 0 AND amount < 'NaN')
);
--> statement-breakpoint
CREATE TABLE "mandate_sellers" (
	"mandate_id" text NOT NULL,
	"seller_id" text NOT NULL,
	"first_paid_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "mandate_sellers_mandate_id_seller_id_pk" PRIMARY KEY("mandate_id","seller_id")
);
--> statement-breakpoint
CREATE TABLE "mandate_versions" (
	"mandate_id" text NOT NULL,
	"version" integer NOT NULL,
	"policy" json NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "mandate_versions_mandate_id_version_pk" PRIMARY KEY("mandate_id","version")
);
--> statement-breakpoint
CREATE TABLE "mandates" (
	"mandate_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"name" text NOT NULL,
	"status" text NOT NULL,
	"version" integer NOT NULL,
	"asset" text NOT NULL,
	"chain" text NOT NULL,
	"agents" text[],
	"wallet_chain" text,
	"wallet_address" text,
	"metadata" json,
	"spent" numeric(78,0) DEFAULT 0 NOT NULL,
	"reserved" numeric(78,0) DEFAULT 0 NOT NULL,
	"ceiling" numeric(78,0),
	"last_held_at" timestamp (3) with time zone,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "mandates_spent" CHECK (spent >= 0 AND spent < 'NaN'),
	CONSTRAINT "mandates_reserved" CHECK (reserved >= 0 AND reserved < 'NaN'),
	CONSTRAINT "mandates_ceiling" CHECK (ceiling >= 0 AND ceiling < 'NaN'),
	CONSTRAINT "mandates_within_ceiling" CHECK (spent + reserved <= ceiling)
);
--> statement-breakpoint
CREATE TABLE "usage_buckets" (
	"mandate_id" text NOT NULL,
	"window_key" text NOT NULL,
	"start" timestamp (3) with time zone NOT NULL,
	"live_until" timestamp (3) with time zone NOT NULL,
	"spent" numeric(78,0) DEFAULT 0 NOT NULL,
	"reserved" numeric(78,0) DEFAULT 0 NOT NULL,
	"payments" integer DEFAULT 0 NOT NULL,
	"ceiling" numeric(78,0),
	CONSTRAINT "usage_buckets_mandate_id_window_key_start_pk" PRIMARY KEY("mandate_id","window_key","start"),
	CONSTRAINT "usage_buckets_spent" CHECK (spent >= 0 AND spent < 'NaN'),
	CONSTRAINT "usage_buckets_reserved" CHECK (reserved >= 0 AND reserved < 'NaN'),
	CONSTRAINT "usage_buckets_payments" CHECK (payments >= 0),
	CONSTRAINT "usage_buckets_within_ceiling" CHECK (spent + reserved <= ceiling)
);
--> statement-breakpoint
CREATE TABLE "authorizations" (
	"authorization_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"mandate_id" text NOT NULL,
	"policy_version" integer NOT NULL,
	"subject_id" text NOT NULL,
	"policy_decision_id" text NOT NULL,
	"intent_id" text NOT NULL,
	"nonce" text NOT NULL,
	"outcome" text NOT NULL,
	"denial_code" text,
	"intent" json NOT NULL,
	"slot" text NOT NULL,
	"fingerprint" text NOT NULL,
	"answer" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"buyer_share" numeric(78,0) NOT NULL,
	"seller_share" numeric(78,0) NOT NULL,
	"asset" text NOT NULL,
	"chain" text NOT NULL,
	"pay_to" text,
	"seller_id" text,
	"seller_organization_id" text,
	"resource_id" text,
	"settlement_mode" text NOT NULL,
	"facilitator_url" text,
	"max_timeout_seconds" integer NOT NULL,
	"fee_schedule_id" text,
	"reservation_id" text,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "authorizations_amount" CHECK (amount >= 0 AND amount < 'NaN'),
	CONSTRAINT "authorizations_buyer_share" CHECK (buyer_share >= 0 AND buyer_share < 'NaN'),
	CONSTRAINT "authorizations_seller_share" CHECK (seller_share >= 0 AND seller_share < 'NaN')
);
--> statement-breakpoint
CREATE TABLE "credential_claims" (
	"chain" text NOT NULL,
	"token_address" text NOT NULL,
	"payer" text NOT NULL,
	"nonce" text NOT NULL,
	"authorization_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "credential_claims_chain_token_address_payer_nonce_pk" PRIMARY KEY("chain","token_address","payer","nonce")
);
--> statement-breakpoint
CREATE TABLE "executions" (
	"execution_id" text PRIMARY KEY NOT NULL,
	"authorization_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"mandate_id" text NOT NULL,
	"subject_id" text NOT NULL,
	"settlement_mode" text NOT NULL,
	"settlement_status" text NOT NULL,
	"facilitator_url" text,
	"credential_hash" text,
	"credential" json,
	"payer" text,
	"token_address" text,
	"nonce" text,
	"valid_before" timestamp (3) with time zone,
	"credential_headers" json,
	"settlement_reference" text,
	"failure_code" text,
	"failure_detail" text,
	"failure_metadata" json,
	"from_block" bigint,
	"slot" text,
	"fingerprint" text,
	"handed_over" boolean DEFAULT false NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_check_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"resolved_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "reservations" (
	"reservation_id" text PRIMARY KEY NOT NULL,
	"authorization_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"mandate_id" text NOT NULL,
	"status" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"approval_key" text,
	"buckets" json NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	CONSTRAINT "reservations_amount" CHECK (amount > 0 AND amount < 'NaN')
);
--> statement-breakpoint
CREATE TABLE "installation" (
	"only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"environment" text NOT NULL,
	"setup_code_hash" text,
	"claimed_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "installation_has_one_row" CHECK ("only")
);
--> statement-breakpoint
CREATE TABLE "resources" (
	"seller_id" text NOT NULL,
	"resource_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"method" text NOT NULL,
	"path_template" text NOT NULL,
	"description" text,
	"pricing" json NOT NULL,
	"configuration_source" text NOT NULL,
	"accepted_payment_challenge_types" text[] NOT NULL,
	"minimum_assurance_level" text NOT NULL,
	"payment_config" json,
	"pay_to" text,
	"archived_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "resources_seller_id_resource_id_pk" PRIMARY KEY("seller_id","resource_id")
);
--> statement-breakpoint
CREATE TABLE "sellers" (
	"seller_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"name" text NOT NULL,
	"domain" text NOT NULL,
	"verified" boolean DEFAULT false NOT NULL,
	"minimum_assurance_level" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
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
ALTER TABLE "account" ADD CONSTRAINT "account_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_inviter_id_user_id_fk" FOREIGN KEY ("inviter_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "member" ADD CONSTRAINT "member_organization_id_organization_id_fk" FOREIGN KEY ("organization_id") REFERENCES "public"."organization"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "member" ADD CONSTRAINT "member_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_user_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."user"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "audit_events_entity" ON "audit_events" USING btree ("entity_id","chain","sequence");--> statement-breakpoint
CREATE INDEX "fee_quotes_of_organization" ON "fee_quotes" USING btree ("organization_id","fee_quote_id");--> statement-breakpoint
CREATE INDEX "fee_schedules_buyer" ON "fee_schedules" USING btree ("buyer_organization_id");--> statement-breakpoint
CREATE INDEX "fee_schedules_seller" ON "fee_schedules" USING btree ("seller_organization_id");--> statement-breakpoint
CREATE INDEX "fees_of_organization" ON "fees" USING btree ("organization_id","fee_id");--> statement-breakpoint
CREATE INDEX "idempotency_age" ON "idempotency" USING brin ("created_at");--> statement-breakpoint
CREATE INDEX "account_user" ON "account" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "api_keys_of_account" ON "api_keys" USING btree ("service_account_id","created_at");--> statement-breakpoint
CREATE INDEX "invitation_organization" ON "invitation" USING btree ("organization_id");--> statement-breakpoint
CREATE INDEX "invitation_email" ON "invitation" USING btree ("email");--> statement-breakpoint
CREATE UNIQUE INDEX "member_once" ON "member" USING btree ("organization_id","user_id");--> statement-breakpoint
CREATE INDEX "member_user" ON "member" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "service_accounts_of_organization" ON "service_accounts" USING btree ("organization_id","service_account_id");--> statement-breakpoint
CREATE INDEX "session_user" ON "session" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "verification_identifier" ON "verification" USING btree ("identifier");--> statement-breakpoint
CREATE INDEX "mandate_ledger_of_mandate" ON "mandate_ledger" USING btree ("mandate_id","ledger_id");--> statement-breakpoint
CREATE INDEX "mandates_of_organization" ON "mandates" USING btree ("organization_id","environment","mandate_id");--> statement-breakpoint
CREATE INDEX "usage_buckets_live" ON "usage_buckets" USING btree ("mandate_id","live_until");--> statement-breakpoint
CREATE UNIQUE INDEX "authorizations_slot" ON "authorizations" USING btree ("slot");--> statement-breakpoint
CREATE UNIQUE INDEX "authorizations_intent_once" ON "authorizations" USING btree ((mandate_id || ' ' || intent_id)) WHERE outcome <> 'deny';--> statement-breakpoint
CREATE UNIQUE INDEX "authorizations_nonce_once" ON "authorizations" USING btree ((mandate_id || ' ' || nonce)) WHERE outcome <> 'deny';--> statement-breakpoint
CREATE INDEX "authorizations_of_organization" ON "authorizations" USING btree ("organization_id","authorization_id");--> statement-breakpoint
CREATE INDEX "authorizations_of_mandate" ON "authorizations" USING btree ("mandate_id","authorization_id");--> statement-breakpoint
CREATE UNIQUE INDEX "executions_one_live" ON "executions" USING btree ("authorization_id") WHERE settlement_status IN ('pending', 'processing', 'unknown', 'settled');--> statement-breakpoint
CREATE INDEX "executions_due" ON "executions" USING btree ("next_check_at") WHERE settlement_status IN ('pending', 'processing', 'unknown');--> statement-breakpoint
CREATE UNIQUE INDEX "executions_slot" ON "executions" USING btree ("slot");--> statement-breakpoint
CREATE INDEX "executions_of_credential" ON "executions" USING btree ("payer","nonce");--> statement-breakpoint
CREATE INDEX "executions_of_authorization" ON "executions" USING btree ("authorization_id","execution_id");--> statement-breakpoint
CREATE INDEX "executions_of_organization" ON "executions" USING btree ("organization_id","execution_id");--> statement-breakpoint
CREATE INDEX "reservations_open" ON "reservations" USING btree ("mandate_id","approval_key") WHERE status = 'held' AND approval_key IS NOT NULL;--> statement-breakpoint
CREATE INDEX "reservations_due" ON "reservations" USING btree ("expires_at") WHERE status = 'held';--> statement-breakpoint
CREATE INDEX "reservations_of_authorization" ON "reservations" USING btree ("authorization_id");--> statement-breakpoint
CREATE INDEX "resources_of_organization" ON "resources" USING btree ("organization_id","created_at","seller_id","resource_id");--> statement-breakpoint
CREATE INDEX "resources_pay_to" ON "resources" USING btree ("pay_to","organization_id");--> statement-breakpoint
CREATE INDEX "sellers_of_organization" ON "sellers" USING btree ("organization_id","seller_id");--> statement-breakpoint
CREATE UNIQUE INDEX "plain_settlements_nonce" ON "plain_settlements" USING btree ("chain","token_address","payer","nonce");--> statement-breakpoint
CREATE INDEX "plain_settlements_of_organization" ON "plain_settlements" USING btree ("organization_id","settlement_id");