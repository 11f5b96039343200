CREATE TABLE "payment_records" (
	"record_id" text PRIMARY KEY NOT NULL,
	"authorization_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"outcome" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"booked" numeric(78,0) NOT NULL,
	"paid_at" timestamp (3) with time zone,
	"reference" text,
	"evidence_hash" text,
	"evidence_url" text,
	"recorded_by" text NOT NULL,
	"by_agent" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "payment_records_amount" CHECK (amount >= 0 AND amount < 'NaN'),
	CONSTRAINT "payment_records_booked" CHECK (booked >= 0 AND booked < 'NaN')
);
--> statement-breakpoint
CREATE TABLE "recorded_payments" (
	"authorization_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"mandate_id" text NOT NULL,
	"payee_key" text,
	"reference_key" text NOT NULL,
	"status" text NOT NULL,
	"paid" numeric(78,0) DEFAULT 0 NOT NULL,
	"refunded" numeric(78,0) DEFAULT 0 NOT NULL,
	"asks" text,
	"deadline" timestamp (3) with time zone NOT NULL,
	"closed_by" text,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"closed_at" timestamp (3) with time zone,
	CONSTRAINT "recorded_payments_paid" CHECK (paid >= 0 AND paid < 'NaN'),
	CONSTRAINT "recorded_payments_refunded" CHECK (refunded >= 0 AND refunded < 'NaN'),
	CONSTRAINT "recorded_payments_closed" CHECK ((status = 'closed') = (closed_at IS NOT NULL))
);
--> statement-breakpoint
CREATE INDEX "payment_records_of_payment" ON "payment_records" USING btree ("authorization_id","record_id");--> statement-breakpoint
CREATE UNIQUE INDEX "recorded_payments_reference" ON "recorded_payments" USING btree ("organization_id",coalesce(payee_key, '-'),"reference_key");--> statement-breakpoint
CREATE INDEX "recorded_payments_due" ON "recorded_payments" USING btree ("deadline") WHERE status = 'open' AND asks IS NULL;--> statement-breakpoint
CREATE INDEX "recorded_payments_asking" ON "recorded_payments" USING btree ("organization_id","authorization_id") WHERE asks IS NOT NULL;--> statement-breakpoint
CREATE TRIGGER payment_records_append_only BEFORE UPDATE OR DELETE ON payment_records FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER payment_records_no_truncate BEFORE TRUNCATE ON payment_records FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
