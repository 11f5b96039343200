CREATE TRIGGER orders_transitions BEFORE UPDATE OF status ON orders FOR EACH ROW
  WHEN (OLD.status <> NEW.status AND (OLD.status || '>' || NEW.status) NOT IN (
    'new>paymentCredentialRequired', 'new>approvalRequired', 'new>denied', 'new>setupRequired', 'new>quoteChanged',
    'setupRequired>paymentCredentialRequired', 'setupRequired>approvalRequired', 'setupRequired>denied',
    'approvalRequired>paymentCredentialRequired', 'approvalRequired>quoteChanged', 'approvalRequired>denied',
    'approvalRequired>processing', 'approvalRequired>setupRequired',
    'paymentCredentialRequired>processing', 'paymentCredentialRequired>approvalRequired', 'paymentCredentialRequired>quoteChanged',
    'paymentCredentialRequired>denied', 'paymentCredentialRequired>setupRequired',
    'processing>completed', 'processing>failed'))
  EXECUTE FUNCTION refuse_transition();
