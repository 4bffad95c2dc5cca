// Package schedule applies change requests whose time has come.
//
// The time is that of the event that invokes the function: EventBridge Scheduler sets it, and it is never later than the
// time of the invocation. The clock of the process only measures how long the invocation takes. So a process whose clock is
// wrong applies nothing early, and nothing late.
//
// A sweep applies what is due in the order of the times for which it is scheduled. What cannot be applied is repeated by
// the next sweeps for ten minutes, while later requests for the same environment of the project wait.
package schedule
