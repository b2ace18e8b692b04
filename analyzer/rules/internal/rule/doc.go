// Package rule has the code that the packages of rules share: families, citations, and common checks of messages. It
// reports nothing.
//
// Functions with a Pass as an argument keep no reference to it, and their results are valid while the Pass is.
package rule
