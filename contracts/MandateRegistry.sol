// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// Stores the limits of mandates that the chain enforces, as their accounts signed them. The pair (account, mandateId)
/// identifies a mandate, so nobody can take the id of another account. A mandate pays in only one of two ways, so it has one
/// budget. In the first way, the policy signer signs EIP-3009 transfers, and the account accepts these proofs as its own
/// signatures (ERC-1271); each numbered payment (slot) of a period has one nonce. In the second way, the payment module pays,
/// and this contract counts the payments.
contract MandateRegistry is EIP712 {
    uint8 public constant PATH_PROOFS = 1;
    uint8 public constant PATH_MODULE = 2;

    bytes32 public constant REGISTER_TYPEHASH = keccak256(
        "RegisterMandate(bytes32 mandateId,address account,address payee,address token,uint128 perPaymentLimit,uint128 periodLimit,uint40 periodSeconds,uint40 start,uint40 end,uint32 maxPaymentsPerPeriod,uint8 enforcementPath,bytes32 termsHash,uint256 nonce,uint256 deadline)"
    );
    bytes32 public constant REVOKE_TYPEHASH =
        keccak256("RevokeMandate(bytes32 mandateId,address account,uint256 nonce,uint256 deadline)");

    struct Terms {
        address account;
        address payee;
        address token;
        /// In atomic units of the token.
        uint128 perPaymentLimit;
        uint128 periodLimit;
        uint40 periodSeconds;
        /// In seconds since 1970. Periods are counted from `start`; `end` is exclusive.
        uint40 start;
        uint40 end;
        uint32 maxPaymentsPerPeriod;
        uint8 enforcementPath;
        /// The hash of the policy in the service from which these limits were derived.
        bytes32 termsHash;
    }

    struct Usage {
        uint40 period;
        uint32 payments;
        uint128 spent;
    }

    /// Why a payment would be refused. Programs outside of the chain read the numbers, so only append values.
    enum Refusal {
        None,
        Unknown,
        Revoked,
        NotStarted,
        Ended,
        OtherPath,
        OtherPayee,
        OtherToken,
        ZeroValue,
        OverPaymentLimit,
        OtherPeriod,
        SlotOutOfRange,
        ExpiresAfterEnd,
        PaymentUsed,
        TooManyPayments,
        OverPeriodLimit
    }

    error DeadlinePassed();
    error NonceUsed();
    error AlreadyRegistered();
    error InvalidTerms();
    error InvalidSignature();
    error NotAllowed();
    error Refused(Refusal refusal);

    event MandateRegistered(address indexed account, bytes32 indexed mandateId, bytes32 termsHash);
    event MandateRevoked(address indexed account, bytes32 indexed mandateId, address indexed by);
    event PaymentConsumed(address indexed account, bytes32 indexed mandateId, bytes32 indexed paymentId, uint256 value);
    event PolicySignerProposed(address indexed signer);
    event PolicySignerChanged(address indexed before, address indexed signer);

    /// May revoke any mandate, and can do nothing else.
    address public immutable guardian;
    /// May propose another policy signer, and can do nothing else.
    address public immutable administrator;

    address public policySigner;
    address public pendingPolicySigner;

    mapping(address account => mapping(bytes32 mandateId => Terms)) private _terms;
    mapping(address account => mapping(bytes32 mandateId => bool)) public revoked;
    mapping(address account => mapping(bytes32 mandateId => Usage)) private _usage;
    mapping(address account => mapping(bytes32 mandateId => mapping(bytes32 paymentId => bool))) public paymentUsed;
    /// Nonces may be used in any order, so that several registrations and revocations can be signed at the same time.
    mapping(address account => mapping(uint256 nonce => bool)) public nonceUsed;

    constructor(address guardian_, address administrator_, address policySigner_) EIP712("MandateRegistry", "1") {
        if (guardian_ == address(0) || administrator_ == address(0) || policySigner_ == address(0)) revert InvalidTerms();
        guardian = guardian_;
        administrator = administrator_;
        policySigner = policySigner_;
        emit PolicySignerChanged(address(0), policySigner_);
    }

    function termsOf(address account, bytes32 mandateId) external view returns (Terms memory) {
        return _terms[account][mandateId];
    }

    /// The payments of the current period. Payments by proof are not counted here, because the nonces of the token show them.
    function usageOf(address account, bytes32 mandateId) external view returns (Usage memory) {
        return _currentUsage(_terms[account][mandateId], _usage[account][mandateId]);
    }

    function domainSeparator() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    /// Registers the limits that the account signed with its key, or by ERC-1271 if it has code. Anyone may submit the signature.
    function registerMandate(bytes32 mandateId, Terms calldata terms, uint256 nonce, uint256 deadline, bytes calldata signature)
        external
    {
        if (_terms[terms.account][mandateId].account != address(0) || revoked[terms.account][mandateId]) {
            revert AlreadyRegistered();
        }
        if (!_valid(terms)) revert InvalidTerms();
        _useSignature(
            terms.account,
            keccak256(abi.encode(REGISTER_TYPEHASH, mandateId, terms, nonce, deadline)),
            nonce,
            deadline,
            signature
        );
        _terms[terms.account][mandateId] = terms;
        emit MandateRegistered(terms.account, mandateId, terms.termsHash);
    }

    /// Revokes an id for ever. An id can be revoked before it is registered, so that a pending registration cannot succeed.
    function revoke(address account, bytes32 mandateId) external {
        if (msg.sender != account && msg.sender != guardian) revert NotAllowed();
        _revoke(account, mandateId);
    }

    function revokeWithSignature(
        address account,
        bytes32 mandateId,
        uint256 nonce,
        uint256 deadline,
        bytes calldata signature
    ) external {
        bytes32 structHash = keccak256(abi.encode(REVOKE_TYPEHASH, mandateId, account, nonce, deadline));
        _useSignature(account, structHash, nonce, deadline, signature);
        _revoke(account, mandateId);
    }

    /// Why the limits refuse a proof with this payment number (slot) of the period now; None if they allow it. The account also
    /// checks that the policy signer signed the proof.
    function checkProof(
        address account,
        bytes32 mandateId,
        address token,
        address payee,
        uint256 value,
        uint256 validBefore,
        uint256 period,
        uint256 slot
    ) external view returns (Refusal) {
        Terms storage terms = _terms[account][mandateId];
        Refusal refusal = _check(terms, mandateId, PATH_PROOFS, token, payee, value);
        if (refusal != Refusal.None) return refusal;
        if (period != _periodOf(terms)) return Refusal.OtherPeriod;
        if (slot >= terms.maxPaymentsPerPeriod) return Refusal.SlotOutOfRange;
        if (validBefore > terms.end) return Refusal.ExpiresAfterEnd;
        return Refusal.None;
    }

    /// Why consume() would refuse this payment now; None if it would accept the payment.
    function checkPayment(
        address account,
        bytes32 mandateId,
        bytes32 paymentId,
        address token,
        address payee,
        uint256 value
    ) public view returns (Refusal) {
        Terms storage terms = _terms[account][mandateId];
        Refusal refusal = _check(terms, mandateId, PATH_MODULE, token, payee, value);
        if (refusal != Refusal.None) return refusal;
        if (paymentUsed[account][mandateId][paymentId]) return Refusal.PaymentUsed;
        Usage memory usage = _currentUsage(terms, _usage[account][mandateId]);
        if (usage.payments >= terms.maxPaymentsPerPeriod) return Refusal.TooManyPayments;
        if (usage.spent + value > terms.periodLimit) return Refusal.OverPeriodLimit;
        return Refusal.None;
    }

    /// Counts a payment under a mandate of the caller, before the money moves. @return The period in which the payment counts.
    function consume(bytes32 mandateId, bytes32 paymentId, address token, address payee, uint256 value)
        external
        returns (uint256)
    {
        Refusal refusal = checkPayment(msg.sender, mandateId, paymentId, token, payee, value);
        if (refusal != Refusal.None) revert Refused(refusal);
        Usage memory usage = _currentUsage(_terms[msg.sender][mandateId], _usage[msg.sender][mandateId]);
        usage.payments += 1;
        // The cast is safe, because the sum is at most periodLimit, which is a uint128.
        usage.spent += uint128(value);
        _usage[msg.sender][mandateId] = usage;
        paymentUsed[msg.sender][mandateId][paymentId] = true;
        emit PaymentConsumed(msg.sender, mandateId, paymentId, value);
        return usage.period;
    }

    function proposePolicySigner(address signer) external {
        if (msg.sender != administrator) revert NotAllowed();
        pendingPolicySigner = signer;
        emit PolicySignerProposed(signer);
    }

    /// Makes the proposed key the policy signer. The new signer calls this itself, so that a key that nobody has cannot become the
    /// signer.
    function acceptPolicySigner() external {
        if (msg.sender != pendingPolicySigner) revert NotAllowed();
        emit PolicySignerChanged(policySigner, msg.sender);
        policySigner = msg.sender;
        pendingPolicySigner = address(0);
    }

    function _valid(Terms calldata terms) private pure returns (bool) {
        return terms.account != address(0) && terms.payee != address(0) && terms.token != address(0)
            && terms.perPaymentLimit > 0 && terms.periodSeconds > 0 && terms.start < terms.end
            && terms.maxPaymentsPerPeriod > 0
            && (terms.enforcementPath == PATH_PROOFS || terms.enforcementPath == PATH_MODULE)
            // Limits the sum of a period also for payments by proof, which cannot be counted on the chain.
            && uint256(terms.maxPaymentsPerPeriod) * terms.perPaymentLimit <= terms.periodLimit;
    }

    function _useSignature(address account, bytes32 structHash, uint256 nonce, uint256 deadline, bytes calldata signature)
        private
    {
        if (block.timestamp > deadline) revert DeadlinePassed();
        if (nonceUsed[account][nonce]) revert NonceUsed();
        nonceUsed[account][nonce] = true;
        if (!SignatureChecker.isValidSignatureNow(account, _hashTypedDataV4(structHash), signature)) revert InvalidSignature();
    }

    function _revoke(address account, bytes32 mandateId) private {
        revoked[account][mandateId] = true;
        emit MandateRevoked(account, mandateId, msg.sender);
    }

    function _check(
        Terms storage terms,
        bytes32 mandateId,
        uint8 path,
        address token,
        address payee,
        uint256 value
    ) private view returns (Refusal) {
        if (terms.account == address(0)) return Refusal.Unknown;
        if (revoked[terms.account][mandateId]) return Refusal.Revoked;
        if (block.timestamp < terms.start) return Refusal.NotStarted;
        if (block.timestamp >= terms.end) return Refusal.Ended;
        if (terms.enforcementPath != path) return Refusal.OtherPath;
        if (token != terms.token) return Refusal.OtherToken;
        if (payee != terms.payee) return Refusal.OtherPayee;
        if (value == 0) return Refusal.ZeroValue;
        if (value > terms.perPaymentLimit) return Refusal.OverPaymentLimit;
        return Refusal.None;
    }

    function _periodOf(Terms storage terms) private view returns (uint256) {
        return (block.timestamp - terms.start) / terms.periodSeconds;
    }

    function _currentUsage(Terms storage terms, Usage memory usage) private view returns (Usage memory) {
        if (terms.account == address(0) || block.timestamp < terms.start) return Usage(0, 0, 0);
        uint40 period = uint40(_periodOf(terms));
        return usage.period == period ? usage : Usage(period, 0, 0);
    }
}
