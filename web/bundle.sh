#!/bin/sh
# Bundles the scripts and styles of the pages, for scripts/web.sh. Usage: bundle.sh FOLDER, in web/
exec node_modules/.bin/esbuild src/page.js src/live.js --bundle --minify --charset=utf8 --format=iife \
    --target=es2022 --legal-comments=none --log-level=warning --outdir="$1"
