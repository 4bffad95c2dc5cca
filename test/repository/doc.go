// Package repository tests the source tree as a whole: it contains no paths and settings of one machine, and its pages
// name files that exist.
package repository
