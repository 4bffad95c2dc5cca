// Command bench measures the service and prints Markdown tables. Run it on a quiet machine (make bench). Machines
// differ by a factor of three, so compare the ratios: each is measured side by side in one run.
package main
