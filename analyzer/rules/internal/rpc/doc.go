// Package rpc holds the rules about the JSON-RPC binding: requests, methods, responses, errors and batches.
package rpc
