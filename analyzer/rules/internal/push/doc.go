// Package push holds the rules about push notifications: the configs that ask for them, webhooks, and what is
// delivered.
package push
