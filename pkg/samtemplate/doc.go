// Package samtemplate reads the project's AWS SAM template, so that the local gateway and the tests take routes,
// tables, environment variables and policies from the file that is deployed.
//
// It supports what template.yaml uses: YAML aliases and merge keys, the short forms of Ref, GetAtt, Sub, If, FindInMap,
// Join, Split, Select, Equals, Contains, Not, And and Condition, Globals for functions, and the resource types of this
// service. Anything else that would change how the service behaves is an error. It is one line, with the line number in
// the template, the resource and what is not supported. Properties without a meaning on one machine, such as alarms,
// roles of AWS services or tags, are accepted. `make validate` checks the template against AWS's own rules.
//
// A reference to a resource resolves to its logical id, which is also its name on one machine. ARNs have the form that
// AWS documents.
package samtemplate
