// Package usagemerger computes what the API reports of the use of toggles from the parts that the processes of
// functions/client write into the table Usage (pkg/delivery/usagetable). It runs once a minute:
//
//   - Two minutes after an hour has ended, it merges the tallies of the hour into records of toggles, and merges each
//     of the 24 hours before again that has got another part since. In the other sweeps, it merges one of the hours
//     again whose parts were written after their hour had ended.
//   - It stores the requests of applications as counters of the table Traffic.
//   - It stores what is known of applications: new ones at once, and each at most every ten minutes.
//   - It stores in toggles when applications last used them, at most once an hour for each environment, and with
//     those of other environments that are due. The time is exact to the hour: it is that of the last report that a
//     process had counted in that hour when it wrote the tally.
//
// The time is an attribute of its own of a toggle's item. It is not recorded, is no part of the toggle's version, and
// needs no condition on what people change, nor do their changes replace it.
//
// All of it is computed from the parts each time, and replaces what was stored before, so that a sweep can end anywhere
// and be repeated. Sweeps can overlap: parts only grow, and a sweep that read them earlier does not replace the records
// and counters of one that read them later.
//
// Whoever has a client token can report any names, and frontend tokens are public. So a sweep reads a limited number of
// parts, adds them up within the limits of records (usagetable.Sum), merges a limited number of them, and stores a
// limited number of applications that only frontend tokens report. What is too much is counted together, and logged as
// a warning.
//
// A part that cannot be read is left out, so that one part does not hold up the others, and the sweep ends with an
// error. Its hour is merged without it, and marked so: the next 24 hourly runs merge the hour again, as long as the
// part cannot be read. The same is true of a record that DynamoDB rejects. A call that fails is repeated by a later
// sweep, and does not keep this one from the rest.
package usagemerger
