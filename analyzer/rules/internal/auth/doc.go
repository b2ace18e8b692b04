// Package auth holds the rules about credentials, and about tasks that wait for an authorization.
package auth
