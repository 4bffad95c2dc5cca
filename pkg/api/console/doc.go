// Package console serves the web pages of the service: the console at /console/ and the files that it loads.
//
// The files are those in the folder static, as they are: ES modules without a build step. They are served below a
// folder whose name contains the checksum of all files, so a browser keeps them for as long as it likes, and modules
// refer to each other by relative paths. The page has a fixed address, names that folder, and contains what the modules
// need to know of the OpenID Connect issuer.
package console
