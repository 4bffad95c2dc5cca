// Package console serves the web pages of the service: the console at /console/ and the files that it loads.
//
// The files are those in the folder static, as they are: ES modules without a build step. They are served below a
// folder whose name contains the checksum of all files, so browsers cache them without a limit, and modules refer to
// each other by relative paths. The page has a fixed address, names that folder, and contains the configuration of the
// OpenID Connect issuer.
package console
