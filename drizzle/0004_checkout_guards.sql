CREATE TRIGGER checkout_intents_transitions BEFORE UPDATE OF status ON checkout_intents FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND (OLD.status || '>' || NEW.status) NOT IN (
    'previewed>awaiting_approval', 'previewed>rejected', 'previewed>expired', 'previewed>canceled', 'previewed>superseded',
    'awaiting_approval>approved', 'awaiting_approval>rejected', 'awaiting_approval>expired', 'awaiting_approval>canceled',
    'awaiting_approval>superseded',
    'approved>authorized', 'approved>expired', 'approved>canceled', 'approved>superseded', 'approved>failed',
    'authorized>executing', 'authorized>expired', 'authorized>superseded', 'authorized>failed',
    'executing>completed', 'executing>failed'))
  EXECUTE FUNCTION refuse_transition();
--> statement-breakpoint
CREATE TRIGGER checkout_approvals_transitions BEFORE UPDATE OF status ON checkout_approvals FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND (OLD.status || '>' || NEW.status) NOT IN (
    'pending>consumed', 'pending>expired', 'pending>revoked'))
  EXECUTE FUNCTION refuse_transition();
--> statement-breakpoint
CREATE TRIGGER checkout_approvals_continuations BEFORE UPDATE OF continuation_token_status ON checkout_approvals FOR EACH ROW
  WHEN (OLD.continuation_token_status IS DISTINCT FROM NEW.continuation_token_status
    AND (OLD.continuation_token_status || '>' || NEW.continuation_token_status) NOT IN (
    'active>redeemed', 'active>expired', 'active>revoked'))
  EXECUTE FUNCTION refuse_transition();
--> statement-breakpoint
-- What a person approved stays what he approved.
CREATE TRIGGER checkout_approvals_terms BEFORE UPDATE OF checkout_intent_id, organization_id, approved_at, approved_by_subject_id, mandate_id,
  agent_id, approved_basket_hash, approved_amount, approved_asset, approved_chain, approved_pay_to, authorization_id,
  continuation_token_id, continuation_token_hash ON checkout_approvals FOR EACH ROW EXECUTE FUNCTION refuse_change();
