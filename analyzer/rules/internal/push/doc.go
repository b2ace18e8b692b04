// Package push holds the rules about push notifications: their configs, webhooks, and deliveries.
package push
