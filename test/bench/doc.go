// Command bench measures the service and prints tables, with the method beside each. It is run by hand (make bench), on a quiet machine:
// machines differ by a factor of three, so what counts are the ratios, taken side by side in one run.
package main
