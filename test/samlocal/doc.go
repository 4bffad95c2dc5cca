// Package samlocal plays the service by SAM CLI's `sam local`, which nobody here wrote: it reads the built template, and starts each
// function's binary in a container. Its tests run the end-to-end scripts against it, say what it does differently from AWS, and invoke every
// function with its sample event. `make test-sam` brings all that they need; without it they are skipped.
//
// The one concept is the CLI: sam on the build of `make build-local`. The data are in an engine on the host, which listens on 127.0.0.1
// alone; a Relay makes it reachable for containers.
//
// Not here: Docker and the containers' image (scripts/sam-local.sh), and what `sam local` has not: an access log, streams, schedules.
package samlocal
