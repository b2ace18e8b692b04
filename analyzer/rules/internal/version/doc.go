// Package version holds the rules about what client and agent have to agree on: the version of the protocol, and its
// extensions.
package version
