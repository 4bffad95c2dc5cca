// Package toggleadmin holds the tests of the operator's command line: scripts that call the built program as a person or a script does,
// and look at what it prints, at its exit status, and at what the API says afterwards.
//
// The scripts in testdata/local run each on a service of its own, as make run serves it. Those in testdata/stack run on a deployed stack
// where STACK names one, with AWS's usual variables and API_URL, the base URL of its API; without it they are skipped. They leave a
// stack as usable as they found it, and may run again. Those in testdata/emulator break what they run on, so they run in an emulator on this
// machine alone. `make test-deploy` brings both a stack.
//
// Beside testscript's own, the scripts know: `status N program …` (the exit status), `terminal ANSWER N program …` (the same on a terminal,
// with an answer typed), `capture VAR` (what was printed), `call STATUS TOKEN METHOD PATH` (the API).
package toggleadmin
