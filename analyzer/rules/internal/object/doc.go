// Package object holds the rules about the shape of protocol objects: messages, parts, artifacts, tasks, updates, and
// their members.
//
// They read members with Entity.Member, so that null is absence and a member in snake_case, which has a rule of its
// own, is there.
package object
