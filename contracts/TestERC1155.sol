// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

/// Only for tests: ERC-1155 tokens that anybody may mint.
contract TestERC1155 is ERC1155 {
    constructor() ERC1155("") {}

    function mint(address to, uint256 id, uint256 value) external {
        _mint(to, id, value, "");
    }

    function mintBatch(address to, uint256[] calldata ids, uint256[] calldata values) external {
        _mintBatch(to, ids, values, "");
    }
}
