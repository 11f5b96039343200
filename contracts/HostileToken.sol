// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

/// Only for tests: a hostile token. Its domain separator can be set, its transfers return no value, and its next transfer can
/// be made to call another contract, such as the payment module, as a reentrancy attack does.
contract HostileToken {
    bytes32 public DOMAIN_SEPARATOR;
    address public module;
    bytes public call;
    uint256 public transfers;
    bool public lastCallDone;

    function answer(bytes32 domain) external {
        DOMAIN_SEPARATOR = domain;
    }

    function callBack(address module_, bytes calldata call_) external {
        module = module_;
        call = call_;
    }

    /// Like some real tokens, this function returns no boolean.
    function transfer(address, uint256) external {
        transfers += 1;
        if (module == address(0)) return;
        address target = module;
        module = address(0);
        (lastCallDone,) = target.call(call);
    }
}
