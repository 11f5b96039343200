// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";

/// Only for tests: ERC-721 tokens that anybody may mint.
contract TestERC721 is ERC721 {
    constructor() ERC721("Test Collectible", "TEST") {}

    function safeMint(address to, uint256 tokenId) external {
        _safeMint(to, tokenId);
    }
}
