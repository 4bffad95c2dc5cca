#!/usr/bin/env bash
# Prints the path of an installed Chromium, or exits with status 1. Tests prefer Debian's
# chromium-headless-shell: it has no windows, and takes two thirds of the processor time.
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    command -v "$name" && exit
done
exit 1
