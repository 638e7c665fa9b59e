#!/bin/sh
# rustc that also lints, each warning an error: for RUSTC_WORKSPACE_WRAPPER.
exec clippy-driver "$@" -D warnings
