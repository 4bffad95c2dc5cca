// Package repository tests the tree as a whole: that it speaks of itself alone, that every package says what it is for, and that
// its rooms keep to their rules where the linter cannot see them.
package repository
