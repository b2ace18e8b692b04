// Package rule is what the packages of rules share: families, citations, and the questions that several of them ask of
// a message. It reports nothing.
//
// Functions that take a Pass keep nothing of it, and what they return is valid as long as the Pass.
package rule
