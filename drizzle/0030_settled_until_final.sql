DROP INDEX "executions_due";--> statement-breakpoint
CREATE INDEX "executions_due" ON "executions" USING btree ("next_check_at") WHERE next_check_at IS NOT NULL;--> statement-breakpoint
DROP TRIGGER executions_transitions ON executions;--> statement-breakpoint
-- Settled is left by evidence, until the chain's finality.
CREATE TRIGGER executions_transitions BEFORE UPDATE OF settlement_status ON executions FOR EACH ROW
  WHEN (OLD.settlement_status <> NEW.settlement_status AND (OLD.settlement_status || '>' || NEW.settlement_status) NOT IN (
    'pending>processing', 'pending>settled', 'pending>failed',
    'processing>settled', 'processing>failed', 'processing>unknown', 'unknown>settled', 'unknown>failed')
    AND NOT (OLD.settlement_status = 'settled' AND OLD.next_check_at IS NOT NULL AND NEW.settlement_status IN ('processing', 'pending')))
  EXECUTE FUNCTION refuse_transition();
