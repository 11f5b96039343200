CREATE TABLE "allowances" (
	"allowance_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"user_id" text NOT NULL,
	"subject_id" text NOT NULL,
	"asset" text NOT NULL,
	"chain" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"verified" boolean NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "allowances_amount" CHECK (amount > 0 AND amount < 'NaN')
);
--> statement-breakpoint
CREATE TABLE "act_proofs" (
	"proof_id" text PRIMARY KEY NOT NULL,
	"session_id" text NOT NULL,
	"user_id" text NOT NULL,
	"subject_id" text NOT NULL,
	"terms" text NOT NULL,
	"passkey_id" text,
	"expires_at" timestamp (3) with time zone NOT NULL,
	"used_at" timestamp (3) with time zone,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "act_proofs" ADD CONSTRAINT "act_proofs_session_id_session_id_fk" FOREIGN KEY ("session_id") REFERENCES "public"."session"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "allowances_of_user" ON "allowances" USING btree ("user_id","created_at");--> statement-breakpoint
CREATE INDEX "act_proofs_of_session" ON "act_proofs" USING btree ("session_id","subject_id");