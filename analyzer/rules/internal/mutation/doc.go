// Package mutation tests the rules: each planted violation must be found under its own rule, and an equivalent spelling
// must not be found at all. It has only tests.
package mutation
