-- What was written to the audit chain and the ledger stays as it was.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
--> statement-breakpoint
CREATE TRIGGER audit_events_append_only BEFORE UPDATE OR DELETE ON audit_events FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER audit_events_no_truncate BEFORE TRUNCATE ON audit_events FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER mandate_ledger_append_only BEFORE UPDATE OR DELETE ON mandate_ledger FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER mandate_ledger_no_truncate BEFORE TRUNCATE ON mandate_ledger FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER mandate_versions_append_only BEFORE UPDATE OR DELETE ON mandate_versions FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER authorizations_append_only BEFORE UPDATE OR DELETE ON authorizations FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
CREATE TRIGGER credential_claims_append_only BEFORE UPDATE OR DELETE ON credential_claims FOR EACH ROW EXECUTE FUNCTION refuse_change();
--> statement-breakpoint
-- The state machines take listed transitions only; the last wall behind the code that decides them.
CREATE FUNCTION refuse_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'transition refused on %', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
--> statement-breakpoint
CREATE TRIGGER reservations_transitions BEFORE UPDATE OF status ON reservations FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND (OLD.status || '>' || NEW.status) NOT IN (
    'held>submitted', 'held>captured', 'held>released', 'held>expired',
    'submitted>captured', 'submitted>released', 'expired>captured', 'released>captured'))
  EXECUTE FUNCTION refuse_transition();
--> statement-breakpoint
CREATE TRIGGER executions_transitions BEFORE UPDATE OF settlement_status ON executions FOR EACH ROW
  WHEN (OLD.settlement_status <> NEW.settlement_status AND (OLD.settlement_status || '>' || NEW.settlement_status) NOT IN (
    'pending>processing', 'pending>settled', 'pending>failed',
    'processing>settled', 'processing>failed', 'processing>unknown', 'unknown>settled', 'unknown>failed'))
  EXECUTE FUNCTION refuse_transition();
--> statement-breakpoint
CREATE TRIGGER mandates_transitions BEFORE UPDATE OF status ON mandates FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND (OLD.status || '>' || NEW.status) NOT IN (
    'draft>active', 'active>suspended', 'suspended>active', 'draft>revoked', 'active>revoked', 'suspended>revoked'))
  EXECUTE FUNCTION refuse_transition();
--> statement-breakpoint
-- Answers and intents are a few KiB of repetitive JSON: lz4 packs them for a fraction of pglz's time, where the server has it.
DO $$
BEGIN
  ALTER TABLE authorizations ALTER COLUMN answer SET COMPRESSION lz4, ALTER COLUMN intent SET COMPRESSION lz4;
  ALTER TABLE idempotency ALTER COLUMN body SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN NULL;
END $$;
--> statement-breakpoint
-- Packed, a row has about 2.5 KiB: kept whole in its page instead of in a second table.
ALTER TABLE authorizations SET (toast_tuple_target = 3600);
