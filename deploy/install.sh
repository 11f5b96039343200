#!/bin/sh
# Installs the tarball in one folder into another one: deploy/install.sh FOLDER APP
# The image has Node 24, and the demo's chain is not needed, so of the optional packages only PostgreSQL stays.
set -eu
mkdir -p "$2"
cd "$2"
[ -f package.json ] || echo '{"private":true}' > package.json
npm install "$1"/countersign-server-*.tgz --no-audit --no-fund
rm -rf node_modules/@foundry-rs node_modules/node-*
