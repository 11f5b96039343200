CREATE TABLE "card_connections" (
	"connection_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"name" text NOT NULL,
	"secrets" text[] NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"ended_at" timestamp (3) with time zone
);
--> statement-breakpoint
CREATE TABLE "cards" (
	"connection_id" text NOT NULL,
	"card_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"mandate_id" text NOT NULL,
	"subject_id" text NOT NULL,
	"name" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"removed_at" timestamp (3) with time zone,
	CONSTRAINT "cards_connection_id_card_id_pk" PRIMARY KEY("connection_id","card_id")
);
--> statement-breakpoint
CREATE TABLE "card_authorizations" (
	"connection_id" text NOT NULL,
	"stripe_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"card_id" text NOT NULL,
	"merchant_name" text,
	"approved" boolean,
	"status" text,
	"amount" numeric(78,0),
	"requests" integer,
	"told_at" bigint,
	"pending_amount" numeric(78,0),
	"pending_requests" integer,
	"pending_told_at" bigint,
	"tail_until" timestamp (3) with time zone,
	"tail_over" boolean DEFAULT false NOT NULL,
	"asks" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "card_authorizations_connection_id_stripe_id_pk" PRIMARY KEY("connection_id","stripe_id"),
	CONSTRAINT "card_authorizations_snapshot" CHECK (num_nulls(approved, status, amount, requests, told_at) IN (0, 5))
);
--> statement-breakpoint
CREATE TABLE "card_parts" (
	"authorization_id" text PRIMARY KEY NOT NULL,
	"connection_id" text NOT NULL,
	"stripe_id" text NOT NULL,
	"position" integer NOT NULL,
	"held" numeric(78,0) NOT NULL,
	"open" numeric(78,0) NOT NULL,
	"captured" numeric(78,0) DEFAULT 0 NOT NULL,
	CONSTRAINT "card_parts_open" CHECK (open >= 0 AND open < 'NaN'),
	CONSTRAINT "card_parts_captured" CHECK (captured >= 0 AND captured < 'NaN')
);
--> statement-breakpoint
CREATE TABLE "card_transactions" (
	"connection_id" text NOT NULL,
	"transaction_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"stripe_id" text,
	"card_id" text NOT NULL,
	"kind" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"currency" text NOT NULL,
	"merchant_name" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "card_transactions_connection_id_transaction_id_pk" PRIMARY KEY("connection_id","transaction_id"),
	CONSTRAINT "card_transactions_amount" CHECK (amount >= 0 AND amount < 'NaN')
);
--> statement-breakpoint
CREATE INDEX "card_connections_of" ON "card_connections" USING btree ("organization_id","environment","connection_id");--> statement-breakpoint
CREATE INDEX "cards_of_mandate" ON "cards" USING btree ("mandate_id");--> statement-breakpoint
CREATE INDEX "card_authorizations_tail" ON "card_authorizations" USING btree ("tail_until") WHERE tail_until IS NOT NULL;--> statement-breakpoint
CREATE INDEX "card_authorizations_asking" ON "card_authorizations" USING btree ("organization_id","created_at") WHERE asks IS NOT NULL;--> statement-breakpoint
CREATE INDEX "card_parts_of" ON "card_parts" USING btree ("connection_id","stripe_id","position");--> statement-breakpoint
CREATE INDEX "card_parts_held" ON "card_parts" USING btree ("authorization_id") WHERE open > 0;--> statement-breakpoint
CREATE INDEX "card_transactions_of" ON "card_transactions" USING btree ("connection_id","stripe_id");