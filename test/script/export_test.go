package script

// RunT is Run on any testscript.T.
var RunT = run
