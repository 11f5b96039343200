CREATE TABLE "settlement_transactions" (
	"transaction_id" text PRIMARY KEY NOT NULL,
	"chain" text NOT NULL,
	"signer" text NOT NULL,
	"nonce" bigint NOT NULL,
	"call_hash" text NOT NULL,
	"to_address" text NOT NULL,
	"data" text NOT NULL,
	"valid_before" timestamp (3) with time zone,
	"gas_limit" bigint NOT NULL,
	"max_fee_per_gas" bigint NOT NULL,
	"max_priority_fee_per_gas" bigint NOT NULL,
	"raw_transaction" text,
	"hash" text NOT NULL,
	"earlier_hashes" text[] DEFAULT '{}' NOT NULL,
	"status" text NOT NULL,
	"block_number" bigint,
	"waiting_since" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"sent_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"next_check_at" timestamp (3) with time zone NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	CONSTRAINT "settlement_transactions_status" CHECK (status IN ('sent', 'mined', 'dropped')),
	CONSTRAINT "settlement_transactions_bytes" CHECK ((status = 'sent') = (raw_transaction IS NOT NULL)),
	CONSTRAINT "settlement_transactions_ended" CHECK ((status = 'sent') = (resolved_at IS NULL))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "settlement_transactions_nonce" ON "settlement_transactions" USING btree ("chain","signer","nonce") WHERE status = 'sent';--> statement-breakpoint
CREATE UNIQUE INDEX "settlement_transactions_call" ON "settlement_transactions" USING btree ("chain","call_hash") WHERE status = 'sent';--> statement-breakpoint
CREATE INDEX "settlement_transactions_due" ON "settlement_transactions" USING btree ("chain","next_check_at") WHERE status = 'sent';--> statement-breakpoint
CREATE INDEX "settlement_transactions_resolved" ON "settlement_transactions" USING btree ("resolved_at") WHERE status <> 'sent';