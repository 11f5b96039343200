// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {MandateRegistry} from "./MandateRegistry.sol";
import {SmartPaymentAccount} from "./SmartPaymentAccount.sol";

/// Makes the payments that the policy signer signed, from accounts that delegate to SmartPaymentAccount. Anyone may submit a
/// signed payment; the registry counts it.
contract PaymentModule is EIP712 {
    bytes32 public constant PAY_TYPEHASH = keccak256(
        "Pay(address account,bytes32 mandateId,bytes32 paymentId,address token,address payee,uint256 value,uint256 deadline)"
    );

    error DeadlinePassed();
    error InvalidSignature();

    event Paid(
        address indexed account, bytes32 indexed mandateId, bytes32 indexed paymentId, address token, address payee, uint256 value
    );

    MandateRegistry public immutable registry;

    constructor(MandateRegistry registry_) EIP712("PaymentModule", "1") {
        registry = registry_;
    }

    function domainSeparator() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    function pay(
        address account,
        bytes32 mandateId,
        bytes32 paymentId,
        address token,
        address payee,
        uint256 value,
        uint256 deadline,
        bytes calldata signature
    ) external {
        if (block.timestamp > deadline) revert DeadlinePassed();
        bytes32 payment =
            keccak256(abi.encode(PAY_TYPEHASH, account, mandateId, paymentId, token, payee, value, deadline));
        (address signer, ECDSA.RecoverError failure,) = ECDSA.tryRecover(_hashTypedDataV4(payment), signature);
        if (failure != ECDSA.RecoverError.NoError || signer != registry.policySigner()) revert InvalidSignature();
        SmartPaymentAccount(payable(account)).pay(mandateId, paymentId, token, payee, value);
        emit Paid(account, mandateId, paymentId, token, payee, value);
    }
}
