// Package version holds the rules about agreements between client and agent: the version of the protocol, and its
// extensions.
package version
