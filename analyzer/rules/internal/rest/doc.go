// Package rest holds the rules about the HTTP+JSON binding: routes, queries and errors.
package rest
