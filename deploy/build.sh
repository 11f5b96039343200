#!/bin/sh
# Makes the tarball of the package in a folder. Run it in a clone: deploy/build.sh FOLDER
set -eu
mkdir -p "$1"
npm ci --no-audit --no-fund
npm pack --pack-destination "$1"
