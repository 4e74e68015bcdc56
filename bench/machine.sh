#!/bin/sh
# Prints the machine and the tools of a measurement, and whether other programs use the processors.
set -eu
processor="$(LC_ALL=C lscpu | sed -n 's/^Model name: *//p' | head -1)"
echo "machine: $(nproc) cores, $processor; $(free -m | awk '/^Mem:/ { print int($2 / 1024 + 0.5) }') GB; Linux $(uname -r)"
echo "tools: $(rustc --version); node $(node --version 2>/dev/null || echo none)"
if command -v wrk >/dev/null 2>&1; then
  echo "load: $(wrk -v 2>&1 | head -1 | cut -d' ' -f1-2), one thread, checked by our own generator"
else
  echo "load: our own generator; wrk is missing (apt-get install wrk), so nothing checks it"
fi
echo "load average before: $(cut -d' ' -f1-3 /proc/loadavg)"
# Processor time of three seconds, in hundredths of a second: idle and total.
ticks() { awk '/^cpu / { all = 0; for (at = 2; at <= 9; at++) all += $at; print $5 + $6, all }' /proc/stat; }
before="$(ticks)"
sleep 3
busy="$(echo "$before $(ticks)" | awk '{ printf "%d", 100 - 100 * ($3 - $1) / ($4 - $2) }')"
if [ "$busy" -gt 5 ]; then
  echo "WARNING: other processes use the CPU for $busy % of the time; results will be lower and unreliable:"
  ps -eo pcpu,comm --sort=-pcpu --no-headers | head -3
else
  echo "idle: $((100 - busy)) % of the processors"
fi
