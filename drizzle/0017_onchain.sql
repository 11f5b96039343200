CREATE TABLE "mandate_registrations" (
	"registration_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"mandate_id" text NOT NULL,
	"version" integer NOT NULL,
	"chain" text NOT NULL,
	"registry" text NOT NULL,
	"account" text NOT NULL,
	"payee" text NOT NULL,
	"token" text NOT NULL,
	"on_chain_id" text NOT NULL,
	"per_payment_limit" numeric(78,0) NOT NULL,
	"period_limit" numeric(78,0) NOT NULL,
	"period_seconds" bigint NOT NULL,
	"start_seconds" bigint NOT NULL,
	"end_seconds" bigint NOT NULL,
	"max_payments_per_period" bigint NOT NULL,
	"enforcement_path" smallint NOT NULL,
	"terms_hash" text NOT NULL,
	"nonce" numeric(78,0) NOT NULL,
	"deadline" bigint NOT NULL,
	"fingerprint" text NOT NULL,
	"status" text NOT NULL,
	"failure" text,
	"revocation" text DEFAULT 'none' NOT NULL,
	"relay_id" text NOT NULL,
	"revoke_relay_id" text,
	"tx_hash" text,
	"next_check_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"confirmed_at" timestamp (3) with time zone,
	"revoked_at" timestamp (3) with time zone,
	CONSTRAINT "mandate_registrations_per_payment_limit" CHECK (per_payment_limit >= 0 AND per_payment_limit < 'NaN'),
	CONSTRAINT "mandate_registrations_period_limit" CHECK (period_limit >= 0 AND period_limit < 'NaN'),
	CONSTRAINT "mandate_registrations_nonce_number" CHECK (nonce >= 0 AND nonce < 'NaN'),
	CONSTRAINT "mandate_registrations_terms" CHECK (per_payment_limit > 0 AND period_seconds > 0 AND start_seconds < end_seconds AND enforcement_path IN (1, 2)
        AND max_payments_per_period BETWEEN 1 AND 4294967295
        AND max_payments_per_period * per_payment_limit <= period_limit),
	CONSTRAINT "mandate_registrations_status" CHECK (status IN ('submitted', 'registered', 'failed')),
	CONSTRAINT "mandate_registrations_revocation" CHECK (revocation IN ('none', 'requested', 'sent', 'revoked')),
	CONSTRAINT "mandate_registrations_confirmed" CHECK ((status = 'registered') = (confirmed_at IS NOT NULL)),
	CONSTRAINT "mandate_registrations_revoked" CHECK ((revocation = 'revoked') = (revoked_at IS NOT NULL))
);
--> statement-breakpoint
CREATE TABLE "registration_slots" (
	"slot_id" text PRIMARY KEY NOT NULL,
	"registration_id" text NOT NULL,
	"organization_id" text NOT NULL,
	"authorization_id" text NOT NULL,
	"period" bigint NOT NULL,
	"slot" bigint NOT NULL,
	"nonce" text NOT NULL,
	"amount" numeric(78,0) NOT NULL,
	"valid_before" timestamp (3) with time zone NOT NULL,
	"status" text NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	CONSTRAINT "registration_slots_amount" CHECK (amount > 0 AND amount < 'NaN'),
	CONSTRAINT "registration_slots_place" CHECK (period >= 0 AND slot >= 0),
	CONSTRAINT "registration_slots_status" CHECK (status IN ('held', 'used', 'free'))
);
--> statement-breakpoint
CREATE TABLE "relay_leases" (
	"chain" text NOT NULL,
	"key" text NOT NULL,
	"holder" text NOT NULL,
	"fence" bigint NOT NULL,
	"expires_at" timestamp (3) with time zone NOT NULL,
	CONSTRAINT "relay_leases_chain_key_pk" PRIMARY KEY("chain","key")
);
--> statement-breakpoint
CREATE TABLE "relayed_transactions" (
	"relay_id" text PRIMARY KEY NOT NULL,
	"organization_id" text NOT NULL,
	"environment" text NOT NULL,
	"mandate_id" text NOT NULL,
	"purpose" text NOT NULL,
	"entity_id" text NOT NULL,
	"chain" text NOT NULL,
	"key" text NOT NULL,
	"to_address" text NOT NULL,
	"data" text NOT NULL,
	"authorization_list" jsonb,
	"gas_cap" bigint NOT NULL,
	"status" text NOT NULL,
	"signer" text,
	"nonce" bigint,
	"gas_limit" bigint,
	"max_fee_per_gas" bigint,
	"max_priority_fee_per_gas" bigint,
	"raw_transaction" text,
	"hash" text,
	"earlier_hashes" text[] DEFAULT '{}' NOT NULL,
	"fence" bigint,
	"sent_at" timestamp (3) with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_check_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"failure" text,
	"gas_used" bigint,
	"gas_price" bigint,
	"block_number" bigint,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"resolved_at" timestamp (3) with time zone,
	CONSTRAINT "relayed_transactions_purpose" CHECK (purpose IN ('registerMandate', 'revokeMandate', 'payMandate')),
	CONSTRAINT "relayed_transactions_key" CHECK (key IN ('relayer', 'guardian')),
	CONSTRAINT "relayed_transactions_status" CHECK (status IN ('queued', 'sent', 'mined', 'reverted', 'abandoned')),
	CONSTRAINT "relayed_transactions_signed" CHECK (CASE WHEN status IN ('queued', 'abandoned') THEN nonce IS NULL AND raw_transaction IS NULL
        ELSE num_nulls(signer, nonce, hash, gas_limit, max_fee_per_gas, sent_at) = 0 END),
	CONSTRAINT "relayed_transactions_bytes" CHECK ((status = 'sent') = (raw_transaction IS NOT NULL)),
	CONSTRAINT "relayed_transactions_gas" CHECK (gas_limit <= gas_cap),
	CONSTRAINT "relayed_transactions_resolved" CHECK ((status IN ('queued', 'sent')) = (resolved_at IS NULL))
);
--> statement-breakpoint
CREATE UNIQUE INDEX "mandate_registrations_once" ON "mandate_registrations" USING btree ("chain","account","on_chain_id") WHERE status <> 'failed';--> statement-breakpoint
CREATE UNIQUE INDEX "mandate_registrations_nonce" ON "mandate_registrations" USING btree ("chain","account","nonce");--> statement-breakpoint
CREATE UNIQUE INDEX "mandate_registrations_relay" ON "mandate_registrations" USING btree ("relay_id");--> statement-breakpoint
CREATE INDEX "mandate_registrations_of_mandate" ON "mandate_registrations" USING btree ("mandate_id","registration_id");--> statement-breakpoint
CREATE INDEX "mandate_registrations_open" ON "mandate_registrations" USING btree ("next_check_at") WHERE status = 'submitted';--> statement-breakpoint
CREATE INDEX "mandate_registrations_revoking" ON "mandate_registrations" USING btree ("registration_id") WHERE revocation IN ('requested', 'sent');--> statement-breakpoint
CREATE UNIQUE INDEX "registration_slots_once" ON "registration_slots" USING btree ("registration_id","period","slot") WHERE status <> 'free';--> statement-breakpoint
CREATE UNIQUE INDEX "registration_slots_of_authorization" ON "registration_slots" USING btree ("authorization_id") WHERE status <> 'free';--> statement-breakpoint
CREATE INDEX "registration_slots_of_nonce" ON "registration_slots" USING btree ("registration_id","nonce");--> statement-breakpoint
CREATE UNIQUE INDEX "relayed_transactions_once" ON "relayed_transactions" USING btree ("purpose","entity_id");--> statement-breakpoint
CREATE UNIQUE INDEX "relayed_transactions_nonce" ON "relayed_transactions" USING btree ("chain","signer","nonce") WHERE nonce IS NOT NULL;--> statement-breakpoint
CREATE INDEX "relayed_transactions_due" ON "relayed_transactions" USING btree ("chain","key","next_check_at") WHERE status IN ('queued', 'sent');--> statement-breakpoint
CREATE INDEX "relayed_transactions_open" ON "relayed_transactions" USING btree ("organization_id") WHERE status IN ('queued', 'sent');--> statement-breakpoint
CREATE TRIGGER relayed_transactions_transitions BEFORE UPDATE OF status ON relayed_transactions FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND (OLD.status || '>' || NEW.status) NOT IN (
    'queued>sent', 'queued>abandoned', 'sent>mined', 'sent>reverted', 'sent>queued'))
  EXECUTE FUNCTION refuse_transition();
--> statement-breakpoint
-- What is relayed never changes; what is signed keeps its nonce until it is known that the nonce is gone.
CREATE TRIGGER relayed_transactions_kept BEFORE UPDATE ON relayed_transactions FOR EACH ROW
  WHEN ((OLD.purpose, OLD.entity_id, OLD.mandate_id, OLD.chain, OLD.key, OLD.to_address, OLD.data, OLD.authorization_list)
    IS DISTINCT FROM (NEW.purpose, NEW.entity_id, NEW.mandate_id, NEW.chain, NEW.key, NEW.to_address, NEW.data, NEW.authorization_list)
    OR (OLD.status = 'sent' AND NEW.status <> 'queued' AND (OLD.signer, OLD.nonce) IS DISTINCT FROM (NEW.signer, NEW.nonce))
    OR (OLD.status = 'sent' AND OLD.hash IS DISTINCT FROM NEW.hash AND NOT OLD.hash = ANY (NEW.earlier_hashes)))
  EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER mandate_registrations_transitions BEFORE UPDATE OF status, revocation ON mandate_registrations FOR EACH ROW
  WHEN ((OLD.status <> NEW.status AND (OLD.status || '>' || NEW.status) NOT IN ('submitted>registered', 'submitted>failed'))
    OR (OLD.revocation <> NEW.revocation AND (OLD.revocation || '>' || NEW.revocation) NOT IN (
      'none>requested', 'none>revoked', 'requested>sent', 'requested>revoked', 'sent>requested', 'sent>revoked')))
  EXECUTE FUNCTION refuse_transition();
--> statement-breakpoint
-- What the account signed.
CREATE TRIGGER mandate_registrations_kept BEFORE UPDATE ON mandate_registrations FOR EACH ROW
  WHEN ((OLD.organization_id, OLD.mandate_id, OLD.version, OLD.chain, OLD.registry, OLD.account, OLD.payee, OLD.token, OLD.on_chain_id,
      OLD.per_payment_limit, OLD.period_limit, OLD.period_seconds, OLD.start_seconds, OLD.end_seconds, OLD.max_payments_per_period,
      OLD.enforcement_path, OLD.terms_hash, OLD.nonce, OLD.deadline)
    IS DISTINCT FROM (NEW.organization_id, NEW.mandate_id, NEW.version, NEW.chain, NEW.registry, NEW.account, NEW.payee, NEW.token, NEW.on_chain_id,
      NEW.per_payment_limit, NEW.period_limit, NEW.period_seconds, NEW.start_seconds, NEW.end_seconds, NEW.max_payments_per_period,
      NEW.enforcement_path, NEW.terms_hash, NEW.nonce, NEW.deadline))
  EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER registration_slots_transitions BEFORE UPDATE OF status ON registration_slots FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND (OLD.status || '>' || NEW.status) NOT IN ('held>used', 'held>free'))
  EXECUTE FUNCTION refuse_transition();
--> statement-breakpoint
CREATE TRIGGER registration_slots_kept BEFORE UPDATE ON registration_slots FOR EACH ROW
  WHEN ((OLD.registration_id, OLD.authorization_id, OLD.period, OLD.slot, OLD.nonce, OLD.amount)
    IS DISTINCT FROM (NEW.registration_id, NEW.authorization_id, NEW.period, NEW.slot, NEW.nonce, NEW.amount))
  EXECUTE FUNCTION refuse_change();
