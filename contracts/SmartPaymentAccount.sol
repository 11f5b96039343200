// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IERC721Receiver} from "@openzeppelin/contracts/token/ERC721/IERC721Receiver.sol";
import {ERC721Holder} from "@openzeppelin/contracts/token/ERC721/utils/ERC721Holder.sol";
import {ERC1155Holder} from "@openzeppelin/contracts/token/ERC1155/utils/ERC1155Holder.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {MandateRegistry} from "./MandateRegistry.sol";

interface IDomainSeparator {
    function DOMAIN_SEPARATOR() external view returns (bytes32);
}

/// The code of accounts that delegate to this contract by EIP-7702. It has no storage, so it leaves nothing behind for a later
/// delegation, and nobody can initialize it before the owner does. The account's own key can always do everything. The policy
/// signer can make proofs for transfers within registered mandates, and the payment module can pay within them. The account
/// accepts ERC-721 and ERC-1155 tokens that are sent to it, like an account without code.
contract SmartPaymentAccount is IERC1271, ERC721Holder, ERC1155Holder {
    using SafeERC20 for IERC20;

    bytes32 private constant TRANSFER_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );
    bytes4 private constant INVALID = 0xffffffff;
    uint256 private constant PROOF_BYTES = 352;

    /// All fields have 32 bytes. With smaller types, the decoder would revert for invalid values, but isValidSignature must return
    /// an answer.
    struct Proof {
        bytes32 mandateId;
        uint256 token;
        uint256 to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        uint256 period;
        uint256 slot;
        bytes32 r;
        bytes32 s;
        uint256 v;
    }

    error NotAllowed();
    error CallFailed(bytes reason);

    MandateRegistry public immutable registry;
    address public immutable module;

    constructor(MandateRegistry registry_, address module_) {
        registry = registry_;
        module = module_;
    }

    receive() external payable {}

    /// The owner's key can sign anything. A proof counts as the signature of only one EIP-3009 transfer that uses one of
    /// the numbered payments (slots) of a mandate's period. It never counts as the signature of a permit, approval or message.
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length == 65) {
            (address signer, ECDSA.RecoverError failure,) = ECDSA.tryRecover(hash, signature);
            return failure == ECDSA.RecoverError.NoError && signer == address(this) ? IERC1271.isValidSignature.selector : INVALID;
        }
        if (signature.length != PROOF_BYTES) return INVALID;
        return _provesTransfer(hash, signature) ? IERC1271.isValidSignature.selector : INVALID;
    }

    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == type(IERC721Receiver).interfaceId || super.supportsInterface(interfaceId);
    }

    /// Lets the owner send transactions from the account itself.
    function execute(address to, uint256 value, bytes calldata data) external payable returns (bytes memory) {
        if (msg.sender != address(this)) revert NotAllowed();
        (bool done, bytes memory result) = to.call{value: value}(data);
        if (!done) revert CallFailed(result);
        return result;
    }

    /// Counts the payment before the money moves. If the token calls this contract again, the payment id is already used.
    function pay(bytes32 mandateId, bytes32 paymentId, address token, address payee, uint256 value) external {
        if (msg.sender != module) revert NotAllowed();
        registry.consume(mandateId, paymentId, token, payee, value);
        IERC20(token).safeTransfer(payee, value);
    }

    function _provesTransfer(bytes32 hash, bytes calldata signature) private view returns (bool) {
        Proof memory proof = abi.decode(signature, (Proof));
        if (proof.token > type(uint160).max || proof.to > type(uint160).max || proof.v > type(uint8).max) return false;
        // This check must come before any call to the token, so that only the registered token is called.
        if (_refused(proof)) return false;
        bytes32 domain = IDomainSeparator(address(uint160(proof.token))).DOMAIN_SEPARATOR();
        if (MessageHashUtils.toTypedDataHash(domain, _transferOf(proof)) != hash) return false;
        (address signer, ECDSA.RecoverError failure,) = ECDSA.tryRecover(hash, uint8(proof.v), proof.r, proof.s);
        return failure == ECDSA.RecoverError.NoError && signer == registry.policySigner();
    }

    function _refused(Proof memory proof) private view returns (bool) {
        return registry.checkProof(
            address(this),
            proof.mandateId,
            address(uint160(proof.token)),
            address(uint160(proof.to)),
            proof.value,
            proof.validBefore,
            proof.period,
            proof.slot
        ) != MandateRegistry.Refusal.None;
    }

    /// The EIP-712 struct hash of the EIP-3009 transfer that a proof signs. The nonce of the transfer is derived from the
    /// payment's number in its period (slot). The token accepts each nonce once, so each slot pays once.
    function _transferOf(Proof memory proof) private view returns (bytes32) {
        bytes32 nonce = keccak256(abi.encode(proof.mandateId, proof.period, proof.slot));
        return keccak256(
            abi.encode(TRANSFER_TYPEHASH, address(this), proof.to, proof.value, proof.validAfter, proof.validBefore, nonce)
        );
    }
}
